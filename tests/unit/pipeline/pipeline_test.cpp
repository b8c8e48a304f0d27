#include "lib/pipeline/pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

using biogpu::pipeline::Size;
using biogpu::pipeline::Stages;

namespace {

// Squares 0 .. n-1 with the slower items first within each group of three, so that workers finish
// out of order.
std::vector<int> squares(int n, const Size& size) {
  struct Item {
    int number = 0;
    int square = 0;
  };
  std::vector<Item> items(static_cast<std::size_t>(size.n_in_flight));
  std::vector<int> written;
  int next = 0;
  biogpu::pipeline::run(size,
                        Stages{
                            [&](std::size_t slot) {
                              if (next == n) return false;
                              items[slot].number = next++;
                              return true;
                            },
                            [&](std::size_t slot) {
                              Item& item = items[slot];
                              const int wait = 2 - item.number % 3;
                              std::this_thread::sleep_for(std::chrono::microseconds(200 * wait));
                              item.square = item.number * item.number;
                            },
                            [&](std::size_t slot) { written.push_back(items[slot].square); },
                        });
  return written;
}

// A run of n items in which one stage throws at the item given.
void fail_at(const std::string& stage, int item, int n) {
  std::vector<int> items(4);
  int next = 0;
  const auto check = [&](const char* here, int number) {
    if (stage == here && number == item) throw biogpu::Error(biogpu::ErrorCode::failed, stage);
  };
  biogpu::pipeline::run(Size{2, 4}, Stages{
                                        [&](std::size_t slot) {
                                          check("read", next);
                                          if (next == n) return false;
                                          items[slot] = next++;
                                          return true;
                                        },
                                        [&](std::size_t slot) { check("compute", items[slot]); },
                                        [&](std::size_t slot) { check("write", items[slot]); },
                                    });
}

}  // namespace

TEST_CASE("pipeline.pipeline: writes every item in reading order", "[pipeline]") {
  for (const int n : {0, 1, 2, 3, 7, 100}) {
    std::vector<int> expected(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] = i * i;
    for (const int n_workers : {1, 2, 5})
      for (const int n_in_flight : {1, 2, 8}) {
        INFO(n << " items, " << n_workers << " workers, " << n_in_flight << " in flight");
        CHECK(squares(n, Size{n_workers, n_in_flight}) == expected);
      }
  }
}

TEST_CASE("pipeline.pipeline: never holds more items than allowed", "[pipeline]") {
  std::atomic<int> held = 0;
  int most = 0;
  int next = 0;
  biogpu::pipeline::run(Size{3, 4}, Stages{
                                        [&](std::size_t) {
                                          if (next++ == 50) return false;
                                          most = std::max(most, ++held);
                                          return true;
                                        },
                                        [](std::size_t) {},
                                        [&](std::size_t) { --held; },
                                    });
  CHECK(held == 0);
  CHECK(most <= 4);
}

TEST_CASE("pipeline.pipeline: throws the error of any stage once", "[pipeline]") {
  for (const char* stage : {"read", "compute", "write"})
    for (const int item : {0, 1, 19}) {
      INFO(stage << " of item " << item);
      CHECK_THROWS_WITH(fail_at(stage, item, 20), stage);
    }
  CHECK_THROWS_WITH(fail_at("read", 20, 20), "read");
  CHECK_NOTHROW(fail_at("none", 0, 20));
}

TEST_CASE("pipeline.pipeline: keeps the type of what was thrown", "[pipeline]") {
  int next = 0;
  const auto run = [&] {
    biogpu::pipeline::run(Size{1, 2}, Stages{
                                          [&](std::size_t) { return next++ < 10; },
                                          [](std::size_t) {},
                                          [](std::size_t) { throw biogpu::ClosedPipe(); },
                                      });
  };
  CHECK_THROWS_AS(run(), biogpu::ClosedPipe);
}
