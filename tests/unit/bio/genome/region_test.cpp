#include "lib/bio/genome/region.hpp"

#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

const std::vector<genome::Contig> kContigs = {{"s", 40}, {"s:7", 12}, {"k:2-3", 9}, {"p,q", 25},
                                              {"x", 0},  {"s", 99},   {"{y}", 5}};

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, bool> parse(const std::string& text) {
  const genome::Region region = genome::RegionParser(kContigs).parse(text);
  return {region.contig, region.begin, region.end, region.cut};
}

}  // namespace

TEST_CASE("genome.region: what samtools faidx takes", "[genome]") {
  CHECK(parse("s") == std::tuple(0, 0, 40, false));
  CHECK(parse("s:") == std::tuple(0, 0, 40, false));
  CHECK(parse("s:6") == std::tuple(0, 5, 40, false));
  CHECK(parse("s:6-") == std::tuple(0, 5, 40, false));
  CHECK(parse("s:-6") == std::tuple(0, 0, 6, false));
  CHECK(parse("s:6-9") == std::tuple(0, 5, 9, false));
  CHECK(parse("s:1,1-3,9,") == std::tuple(0, 10, 39, false));
  CHECK(parse("s:6-41") == std::tuple(0, 5, 40, true));
  CHECK(parse("s:40-40") == std::tuple(0, 39, 40, false));
  CHECK(parse("s:41") == std::tuple(0, 40, 40, true));
  CHECK(parse("s:50-60") == std::tuple(0, 40, 40, true));
  CHECK(parse("s:6-99999999999999999999999") == std::tuple(0, 5, 40, false));
  CHECK(parse("x") == std::tuple(4, 0, 0, false));
  CHECK(parse("p,q:2-3") == std::tuple(3, 1, 3, false));
}

TEST_CASE("genome.region: names that hold a colon", "[genome]") {
  CHECK(parse("k:2-3") == std::tuple(2, 0, 9, false));
  CHECK(parse("k:2-3:4-5") == std::tuple(2, 3, 5, false));
  CHECK(parse("s:7:2-3") == std::tuple(1, 1, 3, false));
  CHECK(parse("{s:7}") == std::tuple(1, 0, 12, false));
  CHECK(parse("{s}:7") == std::tuple(0, 6, 40, false));
  CHECK(parse("{s:7}:-3") == std::tuple(1, 0, 3, false));
  CHECK_THROWS_AS(parse("s:7"), Error);  // a record, or the seventh letter of another
}

TEST_CASE("genome.region: what is none is refused", "[genome]") {
  for (const char* const text :
       {"",     "t",      "t:1-2",   "s:0",  "s:0-3", "s:9-8", "s:-",    "s:-0",
        "s:a",  "s:1-2x", "s:1-2-3", "s:+1", "s: 1",  "s:,",   "s:1--2", "{s",
        "{s}x", "{t}",    "{}",      ":1-2", "s:0x5", "{y}"}) {
    INFO(text);
    try {
      parse(text);
      FAIL("taken");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
    }
  }
  // A long one is not shown whole.
  try {
    parse("s:" + std::string(5000, '-'));
  } catch (const Error& error) {
    CHECK(std::string(error.what()).size() < 300);
  }
}
