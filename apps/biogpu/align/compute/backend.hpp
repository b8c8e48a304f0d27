#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "apps/biogpu/run/log.hpp"
#include "lib/align/align.hpp"
#include "lib/align/search.hpp"
#include "lib/core/device.hpp"

namespace biogpu::app {

// Aligns on the GPUs chosen, each used by two threads at a time, so that it has work while one of
// them prepares or takes results, or on the CPU with the calling thread. More threads than that
// call align(): while some read or format, the devices stay busy.
class AlignBackend {
 public:
  // may_fall_back: a GPU that fails is answered by a warning and the CPU from then on.
  // selects: what score() or search() chooses is aligned, so that two hold memory of a GPU.
  AlignBackend(const DeviceChoice& choice, bool may_fall_back, const align::Options& options,
               bool selects, std::uint64_t max_device_bytes, Log& log);

  // For search(): the targets, kept alive by the caller, and which hits to keep. Then one thread at
  // a time uses a GPU, which holds the targets once. Before the first call of the others.
  void set_search(const align::SequenceSet& targets, const align::SearchOptions& search);

  // n_threads: of the CPU, where it is used.
  // spare: as GpuAligner::align() takes it.
  align::Alignments align(const align::Work& work, int n_threads, align::Alignments spare);
  align::Alignments score(const align::Work& work, int n_threads);  // Output::score
  align::Hits search(const align::SequenceSet& queries, int n_threads);

  bool fell_back() const { return cpu_only_ && !devices_.empty(); }
  double wait_seconds() const;              // of threads for a device that is free
  double device_seconds() const;            // kernels, summed over the devices
  std::uint64_t peak_device_bytes() const;  // of the GPU that took most, at most

 private:
  // One of those that share a GPU.
  struct Device {
    int index = 0;
    // Made on first use, by the thread that holds it.
    std::unique_ptr<align::GpuAligner> aligner;
    std::unique_ptr<align::GpuAligner> scorer;
    std::unique_ptr<align::GpuSearcher> searcher;
    bool busy = false;
    bool alone = false;  // all of the GPU's memory is for this one

    double seconds() const;
    std::uint64_t peak_bytes() const;
  };

  bool is_free(std::size_t i) const;
  Device& acquire();
  void evict_peer(std::size_t i);
  void release(Device& device);
  // What on_gpu returns, or on_cpu where there is no GPU (any more).
  template <class Result>
  Result run(const std::function<Result(Device&)>& on_gpu, const std::function<Result()>& on_cpu);
  std::uint64_t bytes_for(const Device& device) const;
  align::GpuAligner& aligner(Device& device);
  align::GpuAligner& scorer(Device& device);
  align::GpuSearcher& searcher(Device& device);

  const align::Options options_;
  align::Options score_options_;
  align::SequenceSet search_targets_;
  align::SearchOptions search_;
  const std::size_t n_gpus_;
  const std::uint64_t max_device_bytes_;   // of what scores or aligns on a GPU; 0: what is free
  std::uint64_t shared_device_bytes_ = 0;  // of one user
  const bool may_fall_back_;
  Log& log_;
  std::atomic<bool> cpu_only_;
  std::atomic<bool> one_user_ = false;  // of each GPU, from when two had too little memory
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Device> devices_;  // all GPUs, and all again
  double wait_s_ = 0;
  // Of what evict_peer() freed.
  double seconds_before_ = 0;
  std::uint64_t peak_before_ = 0;
};

}  // namespace biogpu::app
