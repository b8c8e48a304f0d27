#include "apps/biogpu/align_backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"

namespace biogpu::app {

AlignBackend::AlignBackend(const DeviceChoice& choice, bool may_fall_back,
                           const align::Options& options, std::uint64_t max_device_bytes, Log& log)
    : options_(options),
      max_device_bytes_(max_device_bytes),
      may_fall_back_(may_fall_back),
      log_(log),
      cpu_only_(!choice.on_gpu()) {
  for (const int index : choice.gpus) devices_.push_back({index, nullptr, false});
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

align::Alignments AlignBackend::align(const align::Work& work) {
  // The pipeline runs one of these calls per thread, so each call itself needs only one.
  if (cpu_only_) return align::align_cpu(work, options_, 1);
  struct Lease {
    AlignBackend& backend;
    Device& device;
    ~Lease() { backend.release(device); }
  };
  try {
    const Lease lease{*this, acquire()};
    if (!lease.device.aligner)
      lease.device.aligner =
          align::make_gpu_aligner(lease.device.index, options_, max_device_bytes_);
    return lease.device.aligner->align(work);
  } catch (const Error& error) {
    if (!may_fall_back_ || error.code() == ErrorCode::host_memory) throw;
    if (!cpu_only_.exchange(true))
      log_.warn(fmt::format("{}; continuing on the CPU", error.what()));
  }
  return align::align_cpu(work, options_, 1);
}

double AlignBackend::device_seconds() const {
  double sum = 0;
  for (const Device& device : devices_)
    if (device.aligner) sum += device.aligner->device_seconds();
  return sum;
}

std::uint64_t AlignBackend::peak_device_bytes() const {
  std::uint64_t peak = 0;
  for (const Device& device : devices_)
    if (device.aligner) peak = std::max(peak, device.aligner->peak_device_bytes());
  return peak;
}

}  // namespace biogpu::app
