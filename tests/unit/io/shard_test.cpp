#include "lib/io/shard.hpp"

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;

TEST_CASE("io.shard: parts follow each other and differ by one unit at most", "[io]") {
  for (const std::uint64_t n : {0u, 1u, 2u, 6u, 7u, 8u, 999u, 1000u, 1001u, 12345u})
    for (const std::uint64_t unit : {1u, 10u, 1000u})
      for (const std::uint32_t count : {1u, 2u, 3u, 7u, 1300u}) {
        std::uint64_t next = 0;
        std::uint64_t least = UINT64_MAX;
        std::uint64_t most = 0;
        for (std::uint32_t index = 1; index <= count; ++index) {
          const io::RecordRange range = io::shard_range({index, count}, n, unit);
          REQUIRE(range.begin == next);
          REQUIRE(range.end >= range.begin);
          if (range.end != n) REQUIRE(range.end % unit == 0);
          const std::uint64_t n_units = (range.end - range.begin + unit - 1) / unit;
          least = std::min(least, n_units);
          most = std::max(most, n_units);
          next = range.end;
        }
        CHECK(next == n);
        CHECK(most - least <= 1);
      }
}

TEST_CASE("io.shard: reads what --shard says and nothing else", "[io]") {
  const io::Shard shard = io::parse_shard("2/7");
  CHECK(shard.index == 2);
  CHECK(shard.count == 7);
  CHECK(!shard.is_whole());
  CHECK(io::parse_shard("1/1").is_whole());
  for (const char* text :
       {"", "1", "/", "0/3", "4/3", "1/0", "-1/3", "1/3x", "1 /3", "1/", "/3", "1/99999999999"})
    CHECK_THROWS_AS(io::parse_shard(text), Error);
}

TEST_CASE("io.shard: a reader gives out its range, with the file's record numbers", "[io]") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 10; ++i) text.append(">r").append(std::to_string(i)).append("\nAC\n");
  const std::string path = folder.file("ten.fa", text);
  CHECK(io::count_records(path, 1) == 10);
  const std::size_t n_at_once = GENERATE(1, 2, 100);
  for (std::uint32_t index = 1; index <= 3; ++index) {
    io::SequenceReader reader = io::open_shard(path, {index, 3}, 1);
    const io::RecordRange range = io::shard_range({index, 3}, 10);
    io::SequenceBatch batch;
    std::uint64_t next = range.begin;
    while (reader.read(batch, {n_at_once, 1u << 20})) {
      CHECK(batch.first_record() == next + 1);
      for (std::size_t i = 0; i < batch.size(); ++i)
        CHECK(batch.name(i) == std::string("r").append(std::to_string(next++)));
    }
    CHECK(next == range.end);
    CHECK(reader.n_records() == range.end - range.begin);
    CHECK(!reader.read(batch));
  }
}

TEST_CASE("io.shard: several files are cut as one", "[io]") {
  const TempFolder folder;
  const std::string one = folder.file("one.fa", ">a\nA\n>b\nA\n>c\nA\n");
  const std::string none = folder.file("none.fa", "");
  const std::string two = folder.file("two.fq", "@d\nA\n+\nI\n@e\nA\n+\nI\n");
  const auto ranges = io::shard_files({one, none, two}, {2, 2}, 1);
  REQUIRE(ranges.size() == 3);
  CHECK(ranges[0].begin == 3);
  CHECK(ranges[0].end == 3);
  CHECK(ranges[1].begin == ranges[1].end);
  CHECK(ranges[2].begin == 0);
  CHECK(ranges[2].end == 2);
  CHECK_THROWS_AS(io::shard_files({"-"}, {1, 2}, 1), Error);
}
