// KFF files of any section.
#include "tests/fuzz/kmer/drive_database.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  fuzz::drive_database(bytes, n);
  return 0;
}
