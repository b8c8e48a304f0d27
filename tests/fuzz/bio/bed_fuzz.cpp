// A BED file from any bytes: an Error, or windows inside their contig.
#include "lib/bio/genome/bed.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

const genome::IndexedFasta& small_genome() {
  static const fuzz::Folder folder;
  static const genome::IndexedFasta genome([] {
    const std::string text = ">chr1\nACGTACGTAC\n>chr2\nAC\n";
    return folder.write("g.fa", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }());
  return genome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const genome::IndexedFasta& genome = small_genome();
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] {
    genome::BedReader reader(file.path(), genome);
    for (genome::Window window; reader.next(window);) {
      fuzz::require(window.contig < 2, "a window of no contig");
      const auto length = static_cast<std::int64_t>(genome.contigs()[window.contig].length);
      fuzz::require(0 <= window.begin && window.begin <= window.end && window.end <= length,
                    "a window that leaves its contig");
      fuzz::require(!window.key.empty(), "a window without a key");
      std::vector<genome::LetterCode> codes(32);
      genome.fetch(window.contig, genome::resize_centre(window, 32).begin, codes);
    }
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
