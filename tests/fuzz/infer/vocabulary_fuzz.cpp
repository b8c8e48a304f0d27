// vocab.txt and a sequence from any bytes: an Error, or the vocabulary's own words and ids of it.
#include "lib/models/base/tokenizer.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const fuzz::Folder folder;
  const std::string path = folder.write("vocab.txt", bytes, n);
  const std::string_view text(reinterpret_cast<const char*>(bytes), n);
  for (const models::Vocabulary& vocabulary :
       {models::esm_vocabulary(), models::protbert_vocabulary(false)}) {
    fuzz::expect_error_of(path, [&] { models::check_vocabulary_file(folder.path(), vocabulary); });
    const models::TokenizeOptions options{n % 2 == 0, 500, n % 3 == 0 ? 40 : 0};
    fuzz::expect_error_of("label", [&] {
      const auto ids = models::tokenize(vocabulary, text, options, "label");
      fuzz::require(ids.size() >= 2 && ids.size() <= 502, "a number of ids");
      for (const std::int32_t id : ids)
        fuzz::require(id >= 0 && id < vocabulary.size(), "an id of no word");
    });
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
