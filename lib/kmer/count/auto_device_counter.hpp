#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>

#include "lib/core/auto_device.hpp"
#include "lib/kmer/count/cpu_counter.hpp"
#include "lib/kmer/count/multi_gpu_counter.hpp"

namespace biogpu::kmer {

// The counter on the device that --device asks for. Finding GPUs and making them ready takes as
// long as reading a GB: what is read meanwhile waits in memory.
class AutoDeviceCounter : public Counter {
 public:
  struct Request {
    DeviceRequest device;
    AutoDecision decision;
    std::uint64_t max_device_bytes = 0;
  };
  using ReportChoice = std::function<void(const DeviceChoice& choice)>;

  // report_choice(choice) once, when the device is known; by any thread.
  AutoDeviceCounter(const CountOptions& options, const Request& request,
                    ReportChoice report_choice);

  // What fails in making the devices ready is thrown by add() or by finish().
  void add(const FeedSequences& feed) override;
  void finish() override;

  // The rest is called after finish().
  bool next(Bucket& bucket) override { return counter().next(bucket); }
  void fetch(Bucket& bucket) override { counter().fetch(bucket); }
  CountTotals totals() const override { return counter().totals(); }
  std::uint64_t spilled_bytes() const override { return counter().spilled_bytes(); }
  std::optional<DeviceUsage> device_usage() const override { return counter().device_usage(); }

  const DeviceChoice& choice() const { return choice_; }
  double start_seconds() const { return start_s_; }  // of GPUs, until they could count
  double wait_seconds() const { return wait_s_; }    // for them, when nothing more could wait

 private:
  Counter& counter() const {
    return gpu_ ? static_cast<Counter&>(*gpu_) : static_cast<Counter&>(*cpu_);
  }
  bool is_waiting() const;
  // Waits for the device and hands it the texts that wait.
  void settle();
  void add(const PackedText& text);

  const CountOptions options_;
  const ReportChoice report_choice_;
  DeviceChoice choice_;
  double start_s_ = 0;
  double wait_s_ = 0;
  std::unique_ptr<CpuCounter> cpu_;
  std::unique_ptr<MultiGpuCounter> gpu_;
  TextPacker packer_;
  WaitingTexts waiting_;
  std::mutex mutex_;
  std::atomic<bool> settled_{false};
  std::shared_future<DeviceChoice> start_;  // the last: it ends before what it works on
};

}  // namespace biogpu::kmer
