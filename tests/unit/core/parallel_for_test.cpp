#include "lib/core/parallel_for.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "lib/core/run_on_threads.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("core.parallel_for: chunks cover a range once, the last one shorter", "[core]") {
  for (const std::size_t n : {0, 1, 63, 64, 65, 128, 1000}) {
    std::vector<std::atomic<int>> visits(n);
    std::vector<std::atomic<int>> chunks(count_chunks(n, 64));
    std::atomic<bool> good{true};  // Catch2's checks are for one thread at a time
    parallel_for_chunks(n, 64, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      ++chunks[chunk];
      if (begin != chunk * 64) good = false;
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    CHECK(good);
    for (const auto& count : visits) REQUIRE(count == 1);
    for (const auto& count : chunks) REQUIRE(count == 1);
  }
}

TEST_CASE("core.parallel_for: a copy in chunks equals its source", "[core]") {
  std::vector<std::uint8_t> from(1000), to(1001, 7);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i * i);
  parallel_copy_chunks(to.data(), from.data(), from.size(), 64);
  CHECK(std::equal(from.begin(), from.end(), to.begin()));
  CHECK(to.back() == 7);
}

// Each job once, and no two calls at a time with the same worker.
template <class Run>
void check_jobs(std::size_t n_workers, std::size_t n_jobs, const Run& run) {
  std::vector<std::atomic<int>> calls(n_jobs), busy(n_workers);
  std::atomic<bool> shared{false};
  run(n_workers, n_jobs, [&](std::size_t worker, std::size_t k) {
    if (++busy[worker] != 1) shared = true;
    ++calls[k];
    --busy[worker];
  });
  for (const auto& count : calls) REQUIRE(count == 1);
  CHECK_FALSE(shared);
}

TEST_CASE("core.parallel_for: every job runs once, a worker runs one at a time", "[core]") {
  for (const std::size_t n_workers : {1, 2, 5})
    for (const std::size_t n_jobs : {0, 1, 2, 1000}) {
      check_jobs(n_workers, n_jobs, [](std::size_t workers, std::size_t jobs, const auto& job) {
        parallel_for_jobs(workers, jobs, job);
      });
      check_jobs(n_workers, n_jobs, [](std::size_t threads, std::size_t jobs, const auto& job) {
        run_on_threads(static_cast<int>(threads), jobs, job);
      });
    }
}

TEST_CASE("core.run_on_threads: the first exception is thrown again", "[core]") {
  std::atomic<int> n_calls{0};
  const auto job = [&](std::size_t, std::size_t k) {
    ++n_calls;
    if (k == 3) throw std::runtime_error("job 3");
  };
  CHECK_THROWS_AS(run_on_threads(1, 100, job), std::runtime_error);
  CHECK(n_calls == 4);
  CHECK_THROWS_AS(run_on_threads(4, 100000, job), std::runtime_error);
}

TEST_CASE("core.run_on_threads: ranges cover [0, n) at multiples", "[core]") {
  const std::size_t n = 1000001;
  std::vector<std::uint8_t> visits(n);
  std::atomic<bool> good{true};
  run_ranges_on_threads(
      3, n,
      [&](std::size_t, std::size_t begin, std::size_t end) {
        if (begin % 64 != 0) good = false;
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      },
      64);
  CHECK(good);
  CHECK(std::count(visits.begin(), visits.end(), 1) == static_cast<std::ptrdiff_t>(n));
}
