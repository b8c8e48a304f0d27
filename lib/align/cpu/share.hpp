#pragma once

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cstddef>

namespace biogpu::align {

// Calls job(worker, k) for every k < n, each once, in this order of beginning; `worker` < n_workers
// is never in two calls at a time.
template <class Job>
void share(std::size_t n_workers, std::size_t n, const Job& job) {
  std::atomic<std::size_t> next{0};
  const auto work_off = [&](std::size_t worker) {
    for (std::size_t k = next++; k < n; k = next++) job(worker, k);
  };
  if (n_workers == 1 || n < 2) return work_off(0);
  tbb::task_arena arena(static_cast<int>(n_workers));
  arena.execute(
      [&] { tbb::parallel_for(std::size_t{0}, n_workers, work_off, tbb::simple_partitioner()); });
}

}  // namespace biogpu::align
