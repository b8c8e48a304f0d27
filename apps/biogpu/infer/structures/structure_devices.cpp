#include "apps/biogpu/infer/structures/structure_devices.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "lib/core/parallel_for.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::app {

std::unique_ptr<StructureDevices::Device> StructureDevices::load(
    std::unique_ptr<tensor::Context> context) const {
  auto device = std::make_unique<Device>();
  device->context = std::move(context);
  device->model =
      models::load_model<models::proteinmpnn::ProteinMpnn>(model_, "design", *device->context);
  return device;
}

void StructureDevices::open(int gpu, std::uint64_t max_device_bytes) {
  tensor::ContextOptions options;
  options.max_device_bytes = max_device_bytes;
  gpus_.push_back(load(tensor::make_gpu_context(gpu, options)));
}

void StructureDevices::load_cpu(int n_workers, int n_threads) {
  cpus_.resize(static_cast<std::size_t>(n_workers));
  tbb::task_arena threads(arena_threads(static_cast<std::size_t>(n_threads)));
  threads.execute([&] {
    tbb::parallel_for(std::size_t{0}, cpus_.size(), [&](std::size_t c) {
      cpus_[c] = load(ops::make_cpu_context(std::max(1, n_threads / n_workers)));
    });
  });
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
  if (!gpus_.empty()) {
    Device& gpu = *gpus_[batch % gpus_.size()];
    const std::lock_guard lock(gpu.mutex);
    return gpu.model->run(works);
  }
  // There are as many as workers: one is free.
  for (;;)
    for (const auto& cpu : cpus_) {
      const std::unique_lock lock(cpu->mutex, std::try_to_lock);
      if (lock) return cpu->model->run(works);
    }
}

}  // namespace biogpu::app
