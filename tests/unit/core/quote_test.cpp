#include "lib/core/quote.hpp"

#include <string>

#include "tests/support/catch.hpp"

using biogpu::kQuotedCharacters;
using biogpu::quoted;
using biogpu::shortened;

TEST_CASE("core.quote: short printable text stays as it is", "[core]") {
  CHECK(quoted("") == "''");
  CHECK(quoted("seq 1") == "'seq 1'");
  CHECK(shortened("seq 1") == "seq 1");
}

TEST_CASE("core.quote: what would break the line or the terminal is written as numbers", "[core]") {
  CHECK(quoted(std::string_view("a\n\x1b\0b\x7f\xc3", 7)) == R"('a\x0a\x1b\x00b\x7f\xc3')");
}

TEST_CASE("core.quote: long text is cut and its length told", "[core]") {
  const std::string whole(kQuotedCharacters, 'G');
  CHECK(quoted(whole) == "'" + whole + "'");
  CHECK(quoted(whole + "A") == "'" + whole + "...' (61 bytes)");
  CHECK(shortened(std::string(5000, 'T'), 3) == "TTT... (5000 bytes)");
  CHECK(shortened("A\x01G\x02", 6) == R"(A\x01G... (4 bytes))");
}
