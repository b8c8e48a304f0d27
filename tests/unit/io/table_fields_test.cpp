#include "lib/io/table_fields.hpp"

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

namespace biogpu {
namespace {

using Fields = std::vector<std::string>;

TEST_CASE("io.table_fields: quotes, blanks and separators as R and spreadsheets write them",
          "[io]") {
  const auto fields = [](std::string_view line, char separator) {
    return io::split_table_line(line, separator, "t.csv: line 4");
  };
  CHECK(fields("", ',') == Fields{""});
  CHECK(fields("a,b", ',') == Fields{"a", "b"});
  CHECK(fields(" a , b\t", ',') == Fields{"a", "b"});
  CHECK(fields("a,,b,", ',') == Fields{"a", "", "b", ""});
  CHECK(fields("\"a,\"\"b\"\"\",c", ',') == Fields{"a,\"b\"", "c"});
  CHECK(fields("\"\",\" \"", ',') == Fields{"", " "});
  CHECK(fields("\"x\"\t\"y\tz\"\t1", '\t') == Fields{"x", "y\tz", "1"});
  CHECK(fields(" a \t\tb", '\t') == Fields{"a", "", "b"});
  CHECK(fields("\"a b\"  c \"d\" ", ' ') == Fields{"a b", "c", "d"});
  CHECK(fields("5' end;3\" pin", ';') == Fields{"5' end", "3\" pin"});
  for (const char* bad : {"\"a", "x,\"a\"\"", "\"a\"b,c", "\"a\" b"}) {
    INFO(bad);
    CHECK_THROWS_AS(fields(bad, ','), Error);
  }
}

TEST_CASE("io.table_fields: a name takes one field of one line", "[io]") {
  CHECK(io::as_field("P1 (human), \"x\" \\ \xc3\xa9") == "P1 (human), \"x\" \\ \xc3\xa9");
  CHECK(io::as_field("a\tb\nc\rd") == "a\\tb\\nc\\rd");
  CHECK(io::as_field(std::string_view("\0\x1b[31m\x7f", 7)) == "\\x00\\x1b[31m\\x7f");
}

}  // namespace
}  // namespace biogpu
