#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "apps/biogpu/log.hpp"
#include "apps/biogpu/shared_flags.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/device.hpp"
#include "lib/models/proteinmpnn/work.hpp"

namespace biogpu::app {

// Where a model of structures runs: on the CPU, or on one or more GPUs.
class StructureDevices {
 public:
  // weights outlive it. decision: as choose_device() takes it. Where --device is auto and the GPU
  // cannot be had, the CPU is used with a warning.
  StructureDevices(const SharedFlags& flags, const models::proteinmpnn::Weights& weights,
                   const AutoDecision& decision, Log& log);

  const DeviceChoice& choice() const { return choice_; }
  std::size_t n_gpus() const { return gpus_.size(); }
  double device_seconds() const;            // of all GPUs, summed
  std::uint64_t peak_device_bytes() const;  // of the GPU that took most
  // On any thread; batch chooses the GPU.
  void compute(std::span<const models::proteinmpnn::Work> works, std::size_t batch);

 private:
  struct Gpu {
    std::unique_ptr<models::proteinmpnn::GpuModel> model;
    std::mutex mutex;  // one thread at a time
  };
  const models::proteinmpnn::Weights& weights_;
  DeviceChoice choice_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

}  // namespace biogpu::app
