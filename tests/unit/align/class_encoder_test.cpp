#include "lib/align/scoring/class_encoder.hpp"

#include <numeric>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using biogpu::align::ClassEncoder;

TEST_CASE("align.class_encoder: every byte at every place around the vector width", "[align]") {
  const bool folds_case = GENERATE(true, false);
  std::array<std::uint8_t, 256> class_of{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool lower = byte >= 0x60 && byte < 0x80;
    class_of[byte] = static_cast<std::uint8_t>(7 * (folds_case && lower ? byte - 0x20 : byte) + 3);
  }
  const ClassEncoder encoder(class_of);
  for (const std::size_t n : {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 150}) {
    std::string text(n, 'A');
    for (std::size_t i = 0; i < n; ++i) text[i] = "ACGTacgtNn*-.UzZ"[i % 16];
    std::vector<std::uint8_t> got(n + 1, 0xee);
    for (std::size_t at = 0; at < n; at += 1 + at / 7) {
      const char before = text[at];
      for (int byte = 0; byte < 256; ++byte) {
        text[at] = static_cast<char>(byte);
        encoder.encode(text.data(), n, got.data());
        for (std::size_t i = 0; i < n; ++i)
          if (got[i] != class_of[static_cast<unsigned char>(text[i])])
            FAIL("byte " << byte << " at " << at << "/" << n << ": place " << i);
      }
      text[at] = before;
    }
    CHECK(got[n] == 0xee);
  }
}
