// Files of molecules with bonds, cut into texts: the first byte says whether they are SDF or MOL2;
// seeds in tests/fuzz/corpus/molecule_texts.
#include "lib/bio/molecule/graph/molecule_texts.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  if (n == 0) return 0;
  const fuzz::MemoryFile file(bytes + 1, n - 1);
  fuzz::expect_error_of(file.path(), [&] {
    const auto format =
        bytes[0] % 2 == 0 ? molecule::GraphFormat::sdf : molecule::GraphFormat::mol2;
    molecule::MoleculeTexts reader(file.path(), format);
    std::uint64_t number = 0;
    for (molecule::MoleculeText text; reader.next(text);) {
      fuzz::require(reader.number() == ++number, "a number that is left out");
      fuzz::require(text.place.ends_with(": molecule " + std::to_string(number)), "no place");
      fuzz::require(text.error.empty() || text.text.empty(), "a text with an error");
      fuzz::require(text.text.size() <= molecule::MoleculeTexts::kMaxBytes, "too large a text");
      const std::string what = molecule::check_announced_size(text);
      fuzz::require(what.find('\n') == what.npos, "an error of two lines");
    }
    fuzz::require(number <= n, "more molecules than bytes");
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
