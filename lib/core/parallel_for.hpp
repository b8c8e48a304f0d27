#pragma once

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace biogpu {

// Parallel loops over oneTBB's threads, which wait between loops: for loops of milliseconds and
// less. lib/core/run_on_threads.hpp has those that start their own threads.

// The threads of an arena where so many are asked for: not more than the process's cores, or than a
// library's host allows. For more oneTBB prints a warning to standard error, and gives none.
inline int arena_threads(std::size_t n_threads) {
  const std::size_t most =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return static_cast<int>(std::clamp<std::size_t>(n_threads, 1, std::max<std::size_t>(1, most)));
}

constexpr std::size_t count_chunks(std::size_t n, std::size_t chunk_size) {
  return (n + chunk_size - 1) / chunk_size;
}

// Calls body(chunk, begin, end) for the chunks of [0, n), by all threads of the calling task arena;
// a single chunk by the caller.
template <class Body>
void parallel_for_chunks(std::size_t n, std::size_t chunk_size, const Body& body) {
  const auto run = [&](std::size_t chunk) {
    body(chunk, chunk * chunk_size, std::min(n, (chunk + 1) * chunk_size));
  };
  const std::size_t n_chunks = count_chunks(n, chunk_size);
  if (n_chunks == 1) return run(0);
  tbb::parallel_for(std::size_t{0}, n_chunks, run);
}

// memcpy by all threads of the calling task arena; a copy of at most one chunk by the caller, as it
// takes less time than to wake the others.
inline void parallel_copy_chunks(void* to, const void* from, std::size_t n_bytes,
                                 std::size_t chunk_bytes) {
  parallel_for_chunks(n_bytes, chunk_bytes, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                end - begin);
  });
}
inline void parallel_copy(void* to, const void* from, std::size_t n_bytes) {
  parallel_copy_chunks(to, from, n_bytes, std::size_t{1} << 20);
}

// Calls job(worker, k) for every k < n_jobs, each once, begun in this order; worker < n_workers is
// never in two calls at a time, so each worker may have its own memory.
template <class Job>
void parallel_for_jobs(std::size_t n_workers, std::size_t n_jobs, const Job& job) {
  std::atomic<std::size_t> next{0};
  const auto work_off = [&](std::size_t worker) {
    for (std::size_t k = next++; k < n_jobs; k = next++) job(worker, k);
  };
  if (n_workers == 1 || n_jobs < 2) return work_off(0);
  tbb::task_arena arena(arena_threads(n_workers));
  arena.execute(
      [&] { tbb::parallel_for(std::size_t{0}, n_workers, work_off, tbb::simple_partitioner()); });
}

}  // namespace biogpu
