#include "lib/io/records/scan.hpp"

#include <cctype>
#include <string>

#include "tests/support/catch.hpp"

using namespace biogpu::io::input;

namespace {

bool is_residue(unsigned char c) {
  return (c < 128 && std::isalpha(c) != 0) || c == '*' || c == '-' || c == '.';
}
bool is_quality(unsigned char c) { return c >= 33 && c <= 126; }
bool is_nonblank(unsigned char c) { return c > 32; }

}  // namespace

TEST_CASE("io.scan: every byte at every place around the vector width", "[io]") {
  struct Case {
    std::size_t (*count)(const char*, std::size_t);
    bool (*holds)(unsigned char);
  };
  const Case c = GENERATE(values<Case>({{count_residues, is_residue},
                                        {count_qualities, is_quality},
                                        {count_nonblank, is_nonblank}}));
  for (const std::size_t n : {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 515}) {
    std::string text(n, 'A');
    REQUIRE(c.count(text.data(), n) == n);
    for (std::size_t at = 0; at < n; at += 1 + at / 7) {
      for (int byte = 0; byte < 256; ++byte) {
        text[at] = static_cast<char>(byte);
        const std::size_t expected = c.holds(static_cast<unsigned char>(byte)) ? n : at;
        if (c.count(text.data(), n) != expected) FAIL("byte " << byte << " at " << at << "/" << n);
      }
      text[at] = 'A';
    }
  }
}
