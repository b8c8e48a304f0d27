#include "apps/biogpu/align/compute/backend.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/core/timed.hpp"

namespace biogpu::app {
namespace {

// Threads that share a GPU.
constexpr std::uint64_t kUsersOfDevice = 2;

align::Options score_only(align::Options options) {
  options.output = align::Output::score;
  return options;
}

}  // namespace

AlignBackend::AlignBackend(const DeviceChoice& choice, bool may_fall_back,
                           const align::Options& options, bool selects,
                           std::uint64_t max_device_bytes, Log& log)
    : options_(options),
      score_options_(score_only(options)),
      n_gpus_(choice.gpus.size()),
      // What scores and what aligns are there at the same time.
      max_device_bytes_(selects ? (max_device_bytes + 1) / 2 : max_device_bytes),
      may_fall_back_(may_fall_back),
      log_(log),
      cpu_only_(!choice.on_gpu()) {
  const std::uint64_t all = max_device_bytes_ != 0
                                ? max_device_bytes_
                                : choice.memory_free_bytes / 10 * 9 / (selects ? 2 : 1);
  shared_device_bytes_ = std::max<std::uint64_t>(all / kUsersOfDevice, 1);
  for (std::uint64_t user = 0; user < kUsersOfDevice; ++user) {
    for (const int index : choice.gpus) devices_.emplace_back().index = index;
  }
}

void AlignBackend::set_search(const align::SequenceSet& targets,
                              const align::SearchOptions& search) {
  one_user_ = true;
  search_targets_ = targets;
  search_ = search;
}

bool AlignBackend::is_free(std::size_t i) const {
  if (!one_user_) return !devices_[i].busy;
  if (i >= n_gpus_) return false;
  for (std::size_t user = i; user < devices_.size(); user += n_gpus_)
    if (devices_[user].busy) return false;
  return true;
}

AlignBackend::Device& AlignBackend::acquire() {
  std::unique_lock lock(mutex_);
  std::size_t found = devices_.size();
  timed(wait_s_, [&] {
    freed_.wait(lock, [&] {
      for (found = 0; found < devices_.size() && !is_free(found);) ++found;
      return found < devices_.size();
    });
  });
  devices_[found].busy = true;
  if (one_user_ && !devices_[found].alone) evict_peer(found);
  return devices_[found];
}

// Frees what all users of the GPU hold; what they measured is kept.
void AlignBackend::evict_peer(std::size_t i) {
  std::uint64_t peak = 0;
  for (std::size_t user = i; user < devices_.size(); user += n_gpus_) {
    Device& device = devices_[user];
    seconds_before_ += device.seconds();
    peak += device.peak_bytes();
    device.aligner.reset();
    device.scorer.reset();
  }
  peak_before_ = std::max(peak_before_, peak);
  devices_[i].alone = true;
}

void AlignBackend::release(Device& device) {
  const std::lock_guard lock(mutex_);
  device.busy = false;
  freed_.notify_one();
}

template <class Result>
Result AlignBackend::run(const std::function<Result(Device&)>& on_gpu,
                         const std::function<Result()>& on_cpu) {
  if (cpu_only_) return on_cpu();
  struct Lease {
    AlignBackend& backend;
    Device& device;
    ~Lease() { backend.release(device); }
  };
  for (bool again = true; again;) {
    again = false;
    const bool alone = one_user_;
    try {
      const Lease lease{*this, acquire()};
      if (cpu_only_) break;  // another one found out meanwhile
      return on_gpu(lease.device);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_memory && !alone) {
        one_user_ = again = true;  // with all of the memory it may fit
        continue;
      }
      if (!may_fall_back_ || error.code() == ErrorCode::host_memory) throw;
      if (!cpu_only_.exchange(true))
        log_.warn(fmt::format("{}; continuing on the CPU", error.what()));
    }
  }
  return on_cpu();
}

std::uint64_t AlignBackend::bytes_for(const Device& device) const {
  return device.alone ? max_device_bytes_ : shared_device_bytes_;
}

align::GpuAligner& AlignBackend::aligner(Device& device) {
  if (!device.aligner)
    device.aligner = align::make_gpu_aligner(device.index, options_, bytes_for(device));
  return *device.aligner;
}

align::GpuAligner& AlignBackend::scorer(Device& device) {
  if (!device.scorer)
    device.scorer = align::make_gpu_aligner(device.index, score_options_, bytes_for(device));
  return *device.scorer;
}

align::Alignments AlignBackend::align(const align::Work& work, int n_threads,
                                      align::Alignments spare) {
  return run<align::Alignments>(
      [&](Device& device) { return aligner(device).align(work, std::move(spare)); },
      [&] { return align::align_cpu(work, options_, n_threads); });
}

align::Alignments AlignBackend::score(const align::Work& work, int n_threads) {
  return run<align::Alignments>([&](Device& device) { return scorer(device).align(work); },
                                [&] { return align::align_cpu(work, score_options_, n_threads); });
}

align::GpuSearcher& AlignBackend::searcher(Device& device) {
  if (!device.searcher)
    device.searcher = align::make_gpu_searcher(device.index, search_targets_, options_, search_,
                                               max_device_bytes_);
  return *device.searcher;
}

align::Hits AlignBackend::search(const align::SequenceSet& queries, int n_threads) {
  return run<align::Hits>(
      [&](Device& device) {
        // The searcher works on all threads of the arena.
        tbb::task_arena arena(arena_threads(static_cast<std::size_t>(n_threads)));
        return arena.execute([&] { return searcher(device).search(queries); });
      },
      [&] { return align::search_cpu(queries, search_targets_, options_, search_, n_threads); });
}

double AlignBackend::Device::seconds() const {
  double sum = searcher ? searcher->device_seconds() : 0.0;
  for (const auto* each : {aligner.get(), scorer.get()})
    if (each != nullptr) sum += each->device_seconds();
  return sum;
}

std::uint64_t AlignBackend::Device::peak_bytes() const {
  std::uint64_t sum = searcher ? searcher->peak_device_bytes() : 0;
  for (const auto* each : {aligner.get(), scorer.get()})
    if (each != nullptr) sum += each->peak_device_bytes();
  return sum;
}

double AlignBackend::wait_seconds() const { return wait_s_; }

double AlignBackend::device_seconds() const {
  double sum = seconds_before_;
  for (const Device& device : devices_) sum += device.seconds();
  return sum;
}

std::uint64_t AlignBackend::peak_device_bytes() const {
  std::uint64_t most = peak_before_;
  for (std::size_t gpu = 0; gpu < n_gpus_; ++gpu) {
    std::uint64_t sum = 0;
    for (std::size_t user = gpu; user < devices_.size(); user += n_gpus_)
      sum += devices_[user].peak_bytes();
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace biogpu::app
