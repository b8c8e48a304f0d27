// VCF or BCF from any bytes, applied to a genome: an Error, or variants that agree with it, windows
// of letters, haplotypes of the sample "s" and annotated output. BCF that claims records larger
// than the input is left out: htslib 1.16 allocates what it claims.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bio/genome/annotated_vcf.hpp"
#include "lib/bio/genome/haplotype_set.hpp"
#include "lib/io/input/gzip.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

constexpr std::size_t kWindow = 24;

const genome::IndexedFasta& small_genome() {
  static const fuzz::Folder folder;
  static const genome::IndexedFasta genome([] {
    const std::string text =
        ">chr1\nACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\n>chr2\nNNRTacgt\n";
    return folder.write("g.fa", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }());
  return genome;
}

bool claims_large_records(std::string_view file) {
  std::string text(file);
  if (text.starts_with("\x1f\x8b")) text = io::input::inflate_head(text, 1u << 20);
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    if (at + 4 <= text.size()) std::memcpy(&value, text.data() + at, 4);
    return value;
  };
  if (!text.starts_with("BCF")) return false;
  for (std::size_t at = 9 + std::size_t{number(5)}; at + 8 <= text.size();) {
    const std::size_t size = std::size_t{number(at)} + number(at + 4);
    if (size > text.size()) return true;
    at += 8 + size;
  }
  return false;
}

void require_letters(const std::vector<genome::LetterCode>& codes) {
  for (const genome::LetterCode code : codes)
    fuzz::require(code <= genome::kUnknownLetter, "a code of no letter");
}

void apply_alleles(const genome::Variant& variant, const genome::IndexedFasta& genome) {
  const auto length = static_cast<std::int64_t>(genome.contigs()[variant.contig].length);
  fuzz::require(variant.position >= 0 && variant.position + std::ssize(variant.ref_codes) <= length,
                "REF leaves its contig");
  const genome::Window window = genome::variant_window(variant, kWindow);
  std::vector<genome::LetterCode> reference(kWindow), alternate(kWindow);
  genome.fetch(window.contig, window.begin, reference);
  for (std::size_t i = 0; i < variant.alts.size(); ++i) {
    if (variant.alts[i].kind != genome::AlleleKind::letters) continue;
    std::fill(alternate.begin(), alternate.end(), genome::kNoLetter);
    genome::build_alternate(genome, window, variant, i, alternate);
    require_letters(alternate);
    fuzz::require(std::equal(reference.begin(), reference.begin() + kWindow / 2, alternate.begin()),
                  "a letter left of the variant changed");
  }
}

void read_and_annotate(const std::string& path) {
  genome::VariantReader reader(path, small_genome(), {io::BadRecords::skip, {}, true});
  genome::AnnotatedVcfWriter writer("/dev/null", reader, {{"BIOGPU_SAD", "A", "difference"}});
  for (genome::Variant variant; reader.next(variant);) {
    if (variant.is_scored) apply_alleles(variant, small_genome());
    writer.write(variant, variant.is_scored
                              ? std::vector(1, std::vector<float>(variant.alts.size(), 1.0f))
                              : std::vector<std::vector<float>>());
  }
  const genome::VariantCounts& counts = reader.counts();
  fuzz::require(counts.given_out + counts.no_alternate <= counts.records, "the counts");
  writer.commit();
}

void build_haplotypes(const std::string& path) {
  genome::VariantReader reader(path, small_genome(), {io::BadRecords::skip, {"s"}, false});
  const genome::HaplotypeSet haplotypes(reader, genome::UnphasedGenotypes::skip);
  for (std::size_t h = 0; h < std::min<std::size_t>(haplotypes.n_haplotypes(0), 3); ++h)
    for (const std::int64_t begin : {-10, 0, 20, 40}) {
      std::vector<genome::LetterCode> codes(kWindow, genome::kNoLetter);
      haplotypes.build({"", 0, begin, begin + static_cast<std::int64_t>(kWindow)}, 0, h, codes);
      require_letters(codes);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  if (claims_large_records({reinterpret_cast<const char*>(bytes), n})) return 0;
  const fuzz::MemoryFile file(bytes, n);
  try {
    fuzz::expect_error_of(file.path(), [&] { read_and_annotate(file.path()); });
    if (std::string_view(reinterpret_cast<const char*>(bytes), n).find("\ts") != std::string::npos)
      fuzz::expect_error_of(file.path(), [&] {
        try {
          build_haplotypes(file.path());
        } catch (const Error& error) {
          if (error.code() != ErrorCode::usage) throw;  // usage: no sample of this name
        }
      });
  } catch (const std::bad_alloc&) {
    // A damaged length that htslib could not allocate.
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
