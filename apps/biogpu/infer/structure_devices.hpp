#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "lib/models/proteinmpnn/work.hpp"

namespace biogpu::app {

// Where a model of structures runs: on the CPU, or on one or more GPUs.
class StructureDevices {
 public:
  // weights outlive it. The CPU, until a GPU is opened.
  explicit StructureDevices(const models::proteinmpnn::Weights& weights) : weights_(weights) {}
  void open(int gpu, std::uint64_t max_device_bytes);
  void close() { gpus_.clear(); }

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
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

}  // namespace biogpu::app
