// A GTF file from any bytes: an Error, or genes and exons inside their contig.
#include "lib/bio/genome/genes/gene_annotation.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

const genome::IndexedFasta& genome_of_genes() {
  static const fuzz::Folder folder;
  static const genome::IndexedFasta genome([] {
    const std::string text = ">chr1\nACGTACGTAC\n>chr2\nAC\n";
    return folder.write("g.fa", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }());
  return genome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const genome::IndexedFasta& genome = genome_of_genes();
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] {
    const genome::GeneAnnotation annotation(file.path(), genome);
    std::size_t n_found = 0;
    for (std::size_t contig = 0; contig < 2; ++contig) {
      const auto length = static_cast<std::int64_t>(genome.contigs()[contig].length);
      const auto is_inside = [&](const genome::Span& span) {
        return 0 <= span.begin && span.begin < span.end && span.end <= length;
      };
      for (const std::size_t gene : annotation.overlapping(contig, 0, length)) {
        fuzz::require(is_inside(annotation.genes()[gene].body), "a gene that leaves its contig");
        ++n_found;
      }
      for (const genome::GeneExons& gene : annotation.starting_in(contig, 0, length + 1))
        for (const genome::Span& exon : gene.exons)
          fuzz::require(is_inside(exon), "an exon that leaves its contig");
    }
    fuzz::require(n_found == annotation.genes().size(), "a gene that is not found");
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
