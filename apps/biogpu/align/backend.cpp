#include "apps/biogpu/align/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/core/error.hpp"

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
                           const align::Options& options, std::uint64_t max_device_bytes, Log& log)
    : options_(options),
      score_options_(score_only(options)),
      n_gpus_(choice.gpus.size()),
      max_device_bytes_(max_device_bytes),
      may_fall_back_(may_fall_back),
      log_(log),
      cpu_only_(!choice.on_gpu()) {
  for (std::uint64_t user = 0; user < kUsersOfDevice; ++user) {
    for (const int index : choice.gpus)
      devices_.push_back({index, nullptr, nullptr, nullptr, false});
  }
}

void AlignBackend::set_search(const align::SequenceSet& targets,
                              const align::SearchOptions& search) {
  devices_.resize(n_gpus_);
  search_targets_ = targets;
  search_ = search;
}

AlignBackend::Device& AlignBackend::acquire() {
  std::unique_lock lock(mutex_);
  const auto find_free = [&] {
    return std::find_if(devices_.begin(), devices_.end(),
                        [](const Device& device) { return !device.busy; });
  };
  auto found = devices_.end();
  freed_.wait(lock, [&] { return (found = find_free()) != devices_.end(); });
  found->busy = true;
  return *found;
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
  try {
    const Lease lease{*this, acquire()};
    return on_gpu(lease.device);
  } catch (const Error& error) {
    if (!may_fall_back_ || error.code() == ErrorCode::host_memory) throw;
    if (!cpu_only_.exchange(true))
      log_.warn(fmt::format("{}; continuing on the CPU", error.what()));
  }
  return on_cpu();
}

// 0 stays 0: an aligner takes less than half of what is free then.
std::uint64_t AlignBackend::bytes_of_user() const {
  return max_device_bytes_ * n_gpus_ / devices_.size();
}

align::GpuAligner& AlignBackend::aligner(Device& device) {
  if (!device.aligner)
    device.aligner = align::make_gpu_aligner(device.index, options_, bytes_of_user());
  return *device.aligner;
}

align::GpuAligner& AlignBackend::scorer(Device& device) {
  if (!device.scorer)
    device.scorer = align::make_gpu_aligner(device.index, score_options_, bytes_of_user());
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
      [&](Device& device) { return searcher(device).search(queries); },
      [&] { return align::search_cpu(queries, search_targets_, options_, search_, n_threads); });
}

double AlignBackend::device_seconds() const {
  double sum = 0;
  for (const Device& device : devices_) {
    for (const auto* aligner : {device.aligner.get(), device.scorer.get()})
      if (aligner != nullptr) sum += aligner->device_seconds();
    if (device.searcher) sum += device.searcher->device_seconds();
  }
  return sum;
}

std::uint64_t AlignBackend::peak_device_bytes() const {
  std::map<int, std::uint64_t> peaks;
  for (const Device& device : devices_) {
    for (const auto* aligner : {device.aligner.get(), device.scorer.get()})
      if (aligner != nullptr) peaks[device.index] += aligner->peak_device_bytes();
    if (device.searcher) peaks[device.index] += device.searcher->peak_device_bytes();
  }
  std::uint64_t most = 0;
  for (const auto& [index, bytes] : peaks) most = std::max(most, bytes);
  return most;
}

}  // namespace biogpu::app
