#include "apps/biogpu/align/format/held_read.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

using namespace biogpu;
using app::HeldRead;
using app::HeldRow;

namespace {

HeldRow row(const std::string& name, std::int32_t target, std::int32_t score) {
  const std::string letters = "AC";
  const std::vector<std::uint32_t> cigar{2u << 4 | 7};
  io::SamRecord record;
  record.query_name = name;
  record.target_id = target;
  record.flag = target < 0 ? 4 : 16;
  record.score = score;
  record.sequence = letters;
  if (target >= 0) record.cigar = cigar;
  return HeldRow(record);
}

// What is written: target:flag of each line.
struct Lines {
  std::string text;
  void operator()(const io::SamRecord& record) {
    text += std::to_string(record.target_id) + ":" + std::to_string(record.flag) + " ";
    CHECK(record.query_name == "a read");
    CHECK(record.sequence == "AC");
  }
};

}  // namespace

TEST_CASE("align.held_read: the first row of the best score is primary", "[align]") {
  Lines lines;
  HeldRead held(std::ref(lines));
  held.finish();
  CHECK(lines.text.empty());
  for (const auto& [target, score] : {std::pair(0, 3), {-1, 0}, {1, 8}, {2, 8}, {-1, 9}, {3, 1}})
    held.add(row("a read", target, score));
  CHECK(lines.text.empty());
  held.finish();
  CHECK(lines.text == "0:272 1:16 2:272 3:272 ");
}

TEST_CASE("align.held_read: without any place there is one line", "[align]") {
  Lines lines;
  HeldRead held(std::ref(lines));
  held.add(row("a read", -1, 0));
  held.add(row("a read", -1, 5));
  held.finish();
  held.finish();
  CHECK(lines.text == "-1:4 ");
}

TEST_CASE("align.held_read: many rows of one read take bounded memory", "[align]") {
  Lines lines;
  HeldRead held(std::ref(lines), 2000);
  for (int i = 0; i < 1000; ++i) held.add(row("a read", i, i == 500 ? 7 : i % 5));
  CHECK(lines.text.size() > 5000);
  held.finish();
  CHECK(lines.text.find(" 500:16 ") != std::string::npos);
  std::size_t n_primary = 0;
  for (std::size_t at = 0; (at = lines.text.find(":16 ", at)) != std::string::npos; ++at)
    ++n_primary;
  CHECK(n_primary == 1);
}
