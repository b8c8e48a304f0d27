#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace biogpu {

// Calls job(worker, k) once for every k < n_jobs, in any order; worker < n_threads is a number that
// no two running calls share. For long loops: the threads are started here, as many as asked for.
// Where the system gives no more threads (oneTBB would throw, see lib/core/parallel_for.hpp), those
// that run do the work. The first exception of a job ends the others after the job they are at and
// is thrown again.
template <class Job>
void run_on_threads(int n_threads, std::size_t n_jobs, const Job& job) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work_off = [&](std::size_t worker) {
    try {
      for (std::size_t k = next++; k < n_jobs; k = next++) job(worker, k);
    } catch (...) {
      next = n_jobs;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t n_workers = std::min(static_cast<std::size_t>(std::max(n_threads, 1)), n_jobs);
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t worker = 1; worker < n_workers; ++worker)
        others.emplace_back(work_off, worker);
    } catch (const std::system_error&) {
    }
    work_off(0);
  }
  if (failure) std::rethrow_exception(failure);
}

// Cuts [0, n) into ranges of about equal size, a few for each thread and none below kMinRange,
// whose bounds are multiples of `multiple`, and calls job(range, begin, end) for each.
template <class Job>
void run_ranges_on_threads(int n_threads, std::size_t n, const Job& job, std::size_t multiple = 1) {
  constexpr std::size_t kMinRange = 1u << 14;
  constexpr std::size_t kRangesPerThread = 4;
  const std::size_t wanted = static_cast<std::size_t>(std::max(n_threads, 1)) * kRangesPerThread;
  std::size_t step = std::max(kMinRange, (n + wanted - 1) / wanted);
  step = (step + multiple - 1) / multiple * multiple;
  run_on_threads(n_threads, (n + step - 1) / step, [&](std::size_t, std::size_t k) {
    job(k, k * step, std::min(n, (k + 1) * step));
  });
}

}  // namespace biogpu
