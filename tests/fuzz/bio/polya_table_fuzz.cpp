// A BED file of polyadenylation sites from any bytes: an Error, or sites inside their contig.
#include "lib/bio/genome/genes/polya_table.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

const genome::IndexedFasta& genome_of_sites() {
  static const fuzz::Folder folder;
  static const genome::IndexedFasta genome([] {
    const std::string text = ">chr1\nACGTACGTAC\n>chr2\nAC\n";
    return folder.write("g.fa", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }());
  return genome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const genome::IndexedFasta& genome = genome_of_sites();
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] {
    const genome::PolyaTable table(file.path(), genome);
    for (std::size_t contig = 0; contig < 2; ++contig)
      for (const char strand : {'+', '-'}) {
        const auto length = static_cast<std::int64_t>(genome.contigs()[contig].length);
        for (const genome::Span& site : table.sites_of({"G1", {}, {}, strand, contig, {}}))
          fuzz::require(0 <= site.begin && site.begin < site.end && site.end <= length,
                        "a site that leaves its contig");
      }
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
