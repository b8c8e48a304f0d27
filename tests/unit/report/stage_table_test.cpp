// The lines that -v prints of the stages of a run.
#include "lib/report/stage_table.hpp"

#include <sstream>
#include <thread>

#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("report.stage_table: a line for each stage below a heading", "[report]") {
  const auto lines = report::stage_table({{"read", 1, 2.0, 0.5, 1.25, "free slots", 1000000000},
                                          {"compute/align", 16, 0, 4, 0, "", 0}});
  REQUIRE(lines.size() == 3);
  CHECK(words_of(lines[0]) == Words{"stage", "threads", "wall", "s", "busy", "s", "wait", "s", "MB",
                                    "MB/s", "waits", "for"});
  // Megabytes a second are those of a busy thread: 1000 MB in half a second.
  CHECK(words_of(lines[1]) ==
        Words{"read", "1", "2.000", "0.500", "1.250", "1000.0", "2000.0", "free", "slots"});
  CHECK(words_of(lines[2]) == Words{"compute/align", "16", "-", "4.000", "-", "-", "-", "-"});
  CHECK(lines[1].find("2.000") == lines[2].find("-") - 4);  // columns end below each other
}

TEST_CASE("report.stage_table: no stages are a heading", "[report]") {
  CHECK(report::stage_table({}).size() == 1);
}

TEST_CASE("report.stage_table: bytes without busy seconds have no rate", "[report]") {
  const auto lines = report::stage_table({{"read", 1, 0, 0, 0, "", 5000000}});
  CHECK(words_of(lines[1]) == Words{"read", "1", "-", "-", "-", "5.0", "-", "-"});
}

TEST_CASE("core.stage_times: a clock tells wall and CPU seconds apart", "[core]") {
  const StageClock clock("sort", 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const StageTimes slept = clock.stop(7);
  CHECK(slept.name == "sort");
  CHECK(slept.n_threads == 2);
  CHECK(slept.bytes == 7);
  CHECK(slept.wall_s >= 0.05);
  CHECK(slept.busy_s < slept.wall_s);
  const double before = process_cpu_seconds();
  double sum = 0;
  while (process_cpu_seconds() - before < 0.02)
    for (int i = 0; i < 1000; ++i) sum += i;
  CHECK(sum > 0);
  CHECK(clock.stop().busy_s >= slept.busy_s + 0.02);
}
