#pragma once

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace biogpu::bwt {

// Calls job(worker, k) once for every k < n_jobs, in any order; worker < n_threads is a number that
// no two running calls share.
template <class Job>
void share_work(int n_threads, std::size_t n_jobs, const Job& job) {
  std::atomic<std::size_t> next{0};
  const auto work_off = [&](std::size_t worker) {
    for (std::size_t k = next++; k < n_jobs; k = next++) job(worker, k);
  };
  const std::size_t n_workers = std::min(static_cast<std::size_t>(std::max(n_threads, 1)), n_jobs);
  if (n_workers < 2) return work_off(0);
  tbb::task_arena arena(n_threads);
  arena.execute(
      [&] { tbb::parallel_for(std::size_t{0}, n_workers, work_off, tbb::simple_partitioner()); });
}

// Cuts [0, n) into pieces of about equal size, a few for each thread and none below kLeast, and
// calls job(piece, begin, end) for each.
template <class Job>
void share_range(int n_threads, std::size_t n, const Job& job, std::size_t multiple = 1) {
  constexpr std::size_t kLeast = 1u << 14;
  constexpr std::size_t kPiecesPerThread = 4;
  const std::size_t wanted = static_cast<std::size_t>(std::max(n_threads, 1)) * kPiecesPerThread;
  std::size_t step = std::max(kLeast, (n + wanted - 1) / wanted);
  step = (step + multiple - 1) / multiple * multiple;
  share_work(n_threads, (n + step - 1) / step,
             [&](std::size_t, std::size_t k) { job(k, k * step, std::min(n, (k + 1) * step)); });
}

}  // namespace biogpu::bwt
