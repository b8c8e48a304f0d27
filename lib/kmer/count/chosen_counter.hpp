#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>

#include "lib/core/device.hpp"
#include "lib/kmer/count/counter.hpp"
#include "lib/kmer/count/gpu_counting.hpp"
#include "lib/kmer/count/packed_text.hpp"

namespace biogpu::kmer {

// The counter on the device that --device asks for. Finding GPUs and making them ready takes as
// long as reading a GB: what is read meanwhile waits in memory.
class ChosenCounter {
 public:
  struct Request {
    DeviceRequest device;
    bool worth_gpu = false;
    std::uint64_t max_device_bytes = 0;
  };
  using Read = std::function<void(const Counter::Add& add)>;
  using Tell = std::function<void(DeviceChoice& choice)>;

  // tell(choice) once, when the device is known; by any thread. It may change the reason.
  ChosenCounter(const CountOptions& options, const Request& request, Tell tell);

  // Any thread, many at a time. What fails in making the devices ready is thrown here or by
  // finish().
  void add(const Read& read);
  // Called once, after the last add().
  void finish();

  // After finish().
  const DeviceChoice& choice() const { return choice_; }
  double start_seconds() const { return start_s_; }  // of GPUs, until they could count
  double wait_seconds() const { return wait_s_; }    // for them, when nothing more could wait
  GpuCounting* gpu() { return gpu_.get(); }          // nullptr where the CPU counts
  Counter& cpu() { return *cpu_; }

 private:
  bool is_waiting() const;
  // Waits for the device and hands it the texts that wait.
  void settle();
  void add(const PackedText& text);

  const CountOptions options_;
  const Tell tell_;
  DeviceChoice choice_;
  double start_s_ = 0;
  double wait_s_ = 0;
  std::unique_ptr<Counter> cpu_;
  std::unique_ptr<GpuCounting> gpu_;
  TextPacker packer_;
  WaitingTexts waiting_;
  std::mutex mutex_;
  std::atomic<bool> settled_{false};
  std::shared_future<DeviceChoice> start_;  // the last: it ends before what it works on
};

}  // namespace biogpu::kmer
