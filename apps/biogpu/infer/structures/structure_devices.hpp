#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/proteinmpnn/proteinmpnn.hpp"

namespace biogpu::app {

// Where a model of structures runs: on the CPU, or on one or more GPUs.
class StructureDevices {
 public:
  // model: its folder. The CPU, until a GPU is opened.
  explicit StructureDevices(std::string model) : model_(std::move(model)) {}
  void open(int gpu, std::uint64_t max_device_bytes);
  void close() { gpus_.clear(); }
  // Loads a model for each of a CPU's workers, which share the threads.
  void load_cpu(int n_workers, int n_threads);

  std::size_t n_gpus() const { return gpus_.size(); }
  double device_seconds() const;            // of all GPUs, summed
  std::uint64_t peak_device_bytes() const;  // of the GPU that took most
  // On any thread; batch chooses the GPU.
  void compute(std::span<const models::proteinmpnn::Work> works, std::size_t batch);

 private:
  struct Device {
    std::unique_ptr<tensor::Context> context;
    std::unique_ptr<models::proteinmpnn::ProteinMpnn> model;
    std::mutex mutex;  // one thread at a time
  };
  std::unique_ptr<Device> load(std::unique_ptr<tensor::Context> context) const;

  const std::string model_;
  std::vector<std::unique_ptr<Device>> gpus_, cpus_;
};

}  // namespace biogpu::app
