#include "lib/bwt/suffix/entry_queues.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"

using biogpu::bwt::EntryQueues;

namespace {

constexpr std::size_t kQueues = 5;
constexpr std::uint64_t kGuard = 0x123456789abcdef;

struct Model {
  explicit Model(std::size_t n_waiting)
      : memory(EntryQueues::n_words(kQueues, n_waiting) + 1, kGuard),
        queues(kQueues, memory.data()),
        expected(kQueues) {}
  void push(std::size_t queue, std::uint64_t entry) {
    queues.push(queue, entry);
    expected[queue].push_back(entry);
  }
  std::vector<std::uint64_t> take(std::size_t queue, bool forward) {
    std::vector<std::uint64_t> taken;
    const auto use = [&](std::uint64_t entry) { taken.push_back(entry); };
    if (forward)
      queues.read_forward(queue, use);
    else
      queues.read_backward(queue, use);
    return taken;
  }

  std::vector<std::uint64_t> memory;
  EntryQueues queues;
  std::vector<std::vector<std::uint64_t>> expected;
};

}  // namespace

TEST_CASE("bwt.entry_queues: entries come back in both orders, in the memory stated", "[bwt]") {
  std::mt19937_64 random(1);
  constexpr std::size_t kWaiting = 20000;
  Model model(kWaiting);
  std::size_t n_waiting = 0;
  for (int round = 0; round < 300; ++round) {
    // Whole chunks of several queues side by side, now and then exactly full.
    while (n_waiting < kWaiting) {
      const std::size_t n = random() % 3 == 0 ? 511 : random() % 1200;
      const std::size_t queue = random() % kQueues;
      for (std::size_t i = 0; i < n && n_waiting < kWaiting; ++i, ++n_waiting)
        model.push(queue, random());
    }
    const std::size_t queue = random() % kQueues;
    const bool forward = random() % 2 == 0;
    auto& expected = model.expected[queue];
    if (!forward) std::reverse(expected.begin(), expected.end());
    REQUIRE(model.take(queue, forward) == expected);
    n_waiting -= expected.size();
    expected.clear();
  }
  CHECK(model.memory.back() == kGuard);
}

TEST_CASE("bwt.entry_queues: what is appended while reading is read too", "[bwt]") {
  Model model(600);
  constexpr std::uint64_t kLast = 50000;
  model.queues.push(0, 0);
  std::uint64_t next = 0;
  model.queues.read_forward(0, [&](std::uint64_t entry) {
    REQUIRE(entry == next++);
    model.queues.push_if(entry < kLast, 0, entry + 1);
  });
  CHECK(next == kLast + 1);
  CHECK(model.memory.back() == kGuard);
  CHECK(model.take(0, true).empty());
}

TEST_CASE("bwt.entry_queues: a full last chunk may lie before the first one", "[bwt]") {
  for (std::uint64_t n = 1000; n < 1040; ++n) {
    INFO(n << " entries");
    Model model(2000);
    model.push(1, 0);  // the first chunk of the memory
    for (std::uint64_t i = 0; i < n / 2; ++i) model.push(0, i);
    (void)model.take(1, true);  // and now again
    for (std::uint64_t i = n / 2; i < n; ++i) model.push(0, i);
    CHECK(model.take(0, true) == model.expected[0]);
  }
}
