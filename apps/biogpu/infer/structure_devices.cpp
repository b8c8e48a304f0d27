#include "apps/biogpu/infer/structure_devices.hpp"

#include <algorithm>

namespace biogpu::app {

void StructureDevices::open(int gpu, std::uint64_t max_device_bytes) {
  gpus_.push_back(std::make_unique<Gpu>());
  gpus_.back()->model = models::proteinmpnn::make_gpu_model(gpu, weights_, max_device_bytes);
}

double StructureDevices::device_seconds() const {
  double sum = 0;
  for (const auto& gpu : gpus_) sum += gpu->model->device_seconds();
  return sum;
}

std::uint64_t StructureDevices::peak_device_bytes() const {
  std::uint64_t most = 0;
  for (const auto& gpu : gpus_) most = std::max(most, gpu->model->peak_device_bytes());
  return most;
}

void StructureDevices::compute(std::span<const models::proteinmpnn::Work> works,
                               std::size_t batch) {
  if (gpus_.empty()) {
    for (const models::proteinmpnn::Work& work : works)
      models::proteinmpnn::run_work(weights_, work);
    return;
  }
  Gpu& gpu = *gpus_[batch % gpus_.size()];
  const std::lock_guard lock(gpu.mutex);
  gpu.model->run(works);
}

}  // namespace biogpu::app
