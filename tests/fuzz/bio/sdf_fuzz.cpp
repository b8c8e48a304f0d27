// SDF and MOL files; seeds in tests/fuzz/corpus/sdf.
#include "tests/fuzz/bio/molecule_check.hpp"
#include "tests/fuzz/support/mutate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  biogpu::fuzz::check_molecules(bytes, n, biogpu::molecule::MoleculeFormat::sdf);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return biogpu::fuzz::mutate_file(data, size, max_size, seed, {biogpu::fuzz::Layout::text});
}
