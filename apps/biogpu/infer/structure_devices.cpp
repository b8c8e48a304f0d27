#include "apps/biogpu/infer/structure_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"

namespace biogpu::app {

StructureDevices::StructureDevices(const SharedFlags& flags,
                                   const models::proteinmpnn::Weights& weights,
                                   const AutoDecision& decision, Log& log)
    : weights_(weights), choice_(choose_device(flags.device_request, decision)) {
  try {
    for (const int gpu : choice_.gpus) {
      gpus_.push_back(std::make_unique<Gpu>());
      gpus_.back()->model =
          models::proteinmpnn::make_gpu_model(gpu, weights, flags.max_device_memory);
    }
  } catch (const Error& error) {
    if (flags.device_request.kind != DeviceRequest::Kind::automatic) throw;
    log.warn(fmt::format("the CPU is used: {}", error.what()));
    gpus_.clear();
    choice_ = {{}, "cpu", error.what()};
  }
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
