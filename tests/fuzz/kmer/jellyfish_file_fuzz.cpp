// .jf files, binary and text: the header's JSON is changed number by number.
#include "tests/fuzz/kmer/drive_database.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const fuzz::Layout layout = seed % 4 == 0 ? fuzz::Layout::binary : fuzz::Layout::text;
  return fuzz::mutate_file(data, size, max_size, seed,
                           {layout, nullptr, nullptr, fuzz::repair_jellyfish_length});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  fuzz::drive_database(bytes, n);
  return 0;
}
