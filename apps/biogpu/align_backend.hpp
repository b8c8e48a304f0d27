#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "apps/biogpu/log.hpp"
#include "lib/align/align.hpp"
#include "lib/core/device.hpp"

namespace biogpu::app {

// Aligns on the GPUs chosen, each used by one thread at a time, or on the CPU with the calling
// thread. More threads than devices call align(): while some prepare or format, the devices stay
// busy.
class AlignBackend {
 public:
  // may_fall_back: a GPU that fails is answered by a warning and the CPU from then on.
  AlignBackend(const DeviceChoice& choice, bool may_fall_back, const align::Options& options,
               std::uint64_t max_device_bytes, Log& log);

  align::Alignments align(const align::Work& work);

  bool fell_back() const { return cpu_only_ && !devices_.empty(); }
  double device_seconds() const;            // kernels, summed over the devices
  std::uint64_t peak_device_bytes() const;  // the largest of the devices

 private:
  struct Device {
    int index = 0;
    std::unique_ptr<align::GpuAligner> aligner;  // made on first use, by the thread that holds it
    bool busy = false;
  };

  Device& acquire();
  void release(Device& device);

  const align::Options options_;
  const std::uint64_t max_device_bytes_;
  const bool may_fall_back_;
  Log& log_;
  std::atomic<bool> cpu_only_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Device> devices_;
};

}  // namespace biogpu::app
