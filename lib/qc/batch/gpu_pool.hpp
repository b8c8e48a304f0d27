#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "lib/qc/batch/gpu_steps.hpp"

namespace biogpu::qc {

// The devices of a run, opened by a thread of their own: that takes a driver a good part of a
// second, in which the CPU can do much of a small input.
class GpuPool {
 public:
  // choose: the devices to use, none for the CPU alone; may throw. wait: nothing is computed before
  // the devices are open, and what opening them throws is thrown here; otherwise a device that
  // cannot be opened leaves the CPU alone, with a remark. Without choose there are no devices.
  GpuPool(std::function<std::vector<int>()> choose, bool wait, const Options& options);

  // Steps for one more worker, on the devices in turns; nullptr where there are none, or not yet.
  // Any thread.
  std::unique_ptr<GpuSteps> make();

  // Waits until the devices are open; empty, or why they are not used.
  std::string remark();

 private:
  void open(const std::function<std::vector<int>()>& choose);

  const Options& options_;
  const bool wait_;
  std::vector<int> devices_;
  std::unique_ptr<GpuSteps> first_;  // opens the first device
  std::atomic<bool> has_first_{false};
  std::atomic<bool> is_open_{false};
  std::atomic<std::size_t> n_made_{0};
  std::string remark_;
  std::future<void> opening_;
};

}  // namespace biogpu::qc
