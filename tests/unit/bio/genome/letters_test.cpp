#include "lib/bio/genome/letters.hpp"

#include <cctype>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

std::vector<int> codes_of(const std::string& text) {
  std::vector<genome::LetterCode> codes(text.size());
  REQUIRE(genome::encode_letters(text, codes.data()) == text.size());
  return {codes.begin(), codes.end()};
}

}  // namespace

TEST_CASE("genome.letters: either case, ambiguity as unknown", "[genome]") {
  CHECK(codes_of("ACGTacgt") == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(codes_of("NRYSWKMBDHVnryswkmbdhv") == std::vector<int>(22, 4));
  CHECK(codes_of("").empty());
}

TEST_CASE("genome.letters: all other bytes are refused, where they stand", "[genome]") {
  const std::string letters = "ACGTNRYSWKMBDHV";
  for (int byte = 0; byte < 256; ++byte) {
    const bool known =
        byte < 128 && letters.find(static_cast<char>(std::toupper(byte))) != letters.npos;
    for (const std::size_t size : {1u, 2u, 15u, 16u, 17u, 64u})
      for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
        std::string text(size, 'g');
        text[at] = static_cast<char>(byte);
        std::vector<genome::LetterCode> codes(size);
        CHECK(genome::encode_letters(text, codes.data()) == (known ? size : at));
      }
  }
}

TEST_CASE("genome.letters: the other strand", "[genome]") {
  std::vector<genome::LetterCode> codes = {0, 1, 2, 3, 4, 0};
  genome::reverse_complement(codes);
  CHECK(genome::decode_letters(codes) == "TNACGT");
  genome::reverse_complement(codes);
  CHECK(genome::decode_letters(codes) == "ACGTNA");
}
