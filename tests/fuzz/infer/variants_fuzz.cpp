// A table of variants from any bytes: an Error, or variants that fit a sequence or are refused.
#include "lib/tasks/variants.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const models::Vocabulary vocabulary = models::esm_vocabulary();
  static const tasks::Tokens sequence =
      models::tokenize(vocabulary, "MKTAYIAKQRCDEFGHLNPQSVW", {}, "sequence");
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] {
    tasks::VariantTable table = tasks::read_variants(file.path());
    for (auto& [name, variants] : table) {
      fuzz::require(!variants.empty(), "a name without variants");
      for (tasks::Variant& variant : variants)
        for (const std::int64_t first : {std::int64_t{1}, std::int64_t{-5}, INT64_MAX, INT64_MIN})
          fuzz::expect_error_of("label", [&] {
            tasks::resolve_variant(variant, vocabulary, sequence, first, "label");
            for (const tasks::Substitution& s : variant.substitutions) {
              const auto at = static_cast<std::size_t>(s.position);
              fuzz::require(at >= 1 && at + 1 < sequence.size(), "a position outside");
              fuzz::require(sequence[at] == s.from, "another residue");
              fuzz::require(s.to >= 0 && s.to < vocabulary.size(), "an id of no word");
            }
          });
    }
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
