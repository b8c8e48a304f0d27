#include "lib/pipeline/pipeline.hpp"
#include "lib/pipeline/held_results.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/pipeline/in_turn.hpp"
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

namespace {

// Times of a run of 6 items in which each call of one stage takes 20 ms and those of the others no
// time.
biogpu::pipeline::Times times_with_slow(const std::string& stage, const Size& size) {
  int next = 0;
  const auto sleep_in = [&](const char* here) {
    if (stage == here) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  return biogpu::pipeline::run(size, Stages{
                                         [&](std::size_t) {
                                           if (next++ == 6) return false;
                                           sleep_in("read");
                                           return true;
                                         },
                                         [&](std::size_t) { sleep_in("compute"); },
                                         [&](std::size_t) { sleep_in("write"); },
                                     });
}

}  // namespace

// Lower bounds alone: a busy machine adds to every time.
TEST_CASE("pipeline.pipeline: tells which stage the others wait for", "[pipeline]") {
  const auto read = times_with_slow("read", {1, 2});
  CHECK(read.read_s >= 0.12);
  CHECK(read.read_wall_s >= 0.12);
  CHECK(read.compute_wait_s >= 0.1);
  CHECK(read.write_wait_s >= 0.1);
  CHECK(read.compute_wall_s >= 0.08);  // from the first item, which is there after 20 ms
  const auto compute = times_with_slow("compute", {1, 2});
  CHECK(compute.compute_s >= 0.12);
  CHECK(compute.read_wait_s >= 0.06);  // two items are read ahead
  CHECK(compute.write_wait_s >= 0.1);
  const auto write = times_with_slow("write", {1, 2});
  CHECK(write.write_s >= 0.12);
  CHECK(write.write_wall_s >= 0.12);
  CHECK(write.read_wait_s >= 0.06);
  CHECK(write.compute_wait_s >= 0.06);
  CHECK(times_with_slow("compute", {3, 6}).n_workers == 3);
}

TEST_CASE("pipeline.pipeline: times become rows, and those of several runs add up", "[pipeline]") {
  biogpu::pipeline::Times times{1, 2, 3, 4, 5, 6, 7, 8, 9, 2};
  times += biogpu::pipeline::Times{10, 20, 30, 40, 50, 60, 70, 80, 90, 4};
  const auto stages = biogpu::pipeline::stages_of(times);
  REQUIRE(stages.size() == 3);
  CHECK(stages[0].name == "read");
  CHECK(stages[1].name == "compute");
  CHECK(stages[2].name == "write");
  CHECK(stages[0].waits_for == "free slots");
  CHECK(stages[1].waits_for == "input");
  CHECK(stages[2].waits_for == "results");
  CHECK(stages[1].n_threads == 4);
  for (std::size_t i = 0; i < 3; ++i) {
    const double n = static_cast<double>(i) * 11;
    CHECK(stages[i].busy_s == 11 + n);
    CHECK(stages[i].wait_s == 44 + n);
    CHECK(stages[i].wall_s == 77 + n);
  }
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

TEST_CASE("pipeline.in_turn: places are given in order, whoever is ready first", "[pipeline]") {
  constexpr std::size_t kItems = 400;
  std::vector<std::uint64_t> order(kItems);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(3);
  // Neighbours swapped at random, as workers finish them; then any order at all.
  for (const std::size_t most : {std::size_t{6}, kItems}) {
    for (std::size_t i = 0; i + 1 < kItems; ++i)
      std::swap(order[i], order[std::min(kItems - 1, i + random() % most)]);
    biogpu::pipeline::InTurn in_turn;
    std::vector<std::uint64_t> placed;
    std::vector<char> is_placed(kItems, 0), told(kItems, 0);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < kItems; i = next++) {
          const std::uint64_t turn = order[i];
          told[turn] = in_turn.ready(turn, [&, turn] {
            placed.push_back(turn);
            is_placed[turn] = 1;
          });
          if (told[turn] != 0 && is_placed[turn] == 0) wrong = true;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK_FALSE(wrong);
    REQUIRE(placed.size() == kItems);
    CHECK(std::is_sorted(placed.begin(), placed.end()));
  }
}

TEST_CASE("pipeline.in_turn: an item behind one that is not ready waits", "[pipeline]") {
  biogpu::pipeline::InTurn in_turn;
  std::string placed;
  CHECK_FALSE(in_turn.ready(1, [&] { placed += "1"; }));
  CHECK_FALSE(in_turn.ready(2, [&] { placed += "2"; }));
  CHECK(placed.empty());
  CHECK(in_turn.ready(0, [&] { placed += "0"; }));
  CHECK(placed == "012");
  CHECK(in_turn.ready(3, [&] { placed += "3"; }));
  CHECK(placed == "0123");
}

TEST_CASE("pipeline.held_results: large results are held one at a time", "[pipeline]") {
  const auto held = [](int n_workers, std::uint64_t bytes) {
    const Size size = biogpu::pipeline::held_results(n_workers, bytes, 1000);
    return std::pair(size.n_workers, size.n_in_flight);
  };
  CHECK(held(2, 0) == std::pair(2, 4));
  CHECK(held(2, 250) == std::pair(2, 4));
  CHECK(held(2, 251) == std::pair(2, 3));
  CHECK(held(2, 500) == std::pair(2, 2));
  CHECK(held(2, 501) == std::pair(1, 1));
  CHECK(held(16, 9999) == std::pair(1, 1));
}
