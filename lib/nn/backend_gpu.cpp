#include "lib/nn/backend_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/nn/row_ops.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/nn/device_backend_gpu.hpp"

namespace biogpu::nn {

namespace device_nn = gpu::nn;

namespace {

int select(int device) {
  gpu::set_device(device);
  return device;
}

}  // namespace

DeviceBackend::DeviceBackend(int device, const BackendOptions& options)
    : device_(select(device)),
      options_(options),
      products_(options.precision, stream_),
      small_(options.precision, stream_) {}

DeviceBackend::~DeviceBackend() {
  stream_.synchronize();
  passes_.clear();
  for (const auto& [memory, bytes] : allocated_) gpu::free_device(memory);
}

std::string DeviceBackend::name() const { return fmt::format("gpu:{}", device_); }

void* DeviceBackend::allocate(std::size_t bytes) {
  return with_device_errors([&] {
    gpu::set_device(device_);
    void* const memory = gpu::allocate_device(std::max<std::size_t>(bytes, 1));
    allocated_.emplace(memory, bytes);
    allocated_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, allocated_bytes_);
    return memory;
  });
}

void DeviceBackend::release(void* memory) {
  const auto found = allocated_.find(memory);
  if (found == allocated_.end()) return;
  stream_.synchronize();
  passes_.clear();  // what was recorded may point there
  allocated_bytes_ -= found->second;
  allocated_.erase(found);
  gpu::free_device(memory);
}

std::uint64_t DeviceBackend::free_bytes() {
  return with_device_errors([&] {
    gpu::set_device(device_);
    const std::uint64_t free = gpu::memory_info().free_bytes;
    const std::uint64_t limit = options_.max_device_bytes;
    if (limit == 0) return free;
    return std::min(free, limit - std::min(limit, allocated_bytes_));
  });
}

// Rows are brought together as f32 in device memory, and then through pinned memory to the host
// when synchronize() is called.
void DeviceBackend::copy_out(float* host, const Tensor& from) {
  with_device_errors([&] {
    const std::int64_t n_rows = from.shape[0],
                       width = from.size() / std::max<std::int64_t>(1, n_rows);
    if (n_rows == 0) return;
    const void* source = from.data;
    if (from.dtype != DType::f32 || from.stride[0] != width) {
      results_.emplace_back(static_cast<std::size_t>(from.size()));
      device_nn::launch_copy_rows({results_.back().data(), width, device_nn::Element::f32},
                                  rows_of(from), nullptr, n_rows, static_cast<int>(width), stream_);
      source = results_.back().data();
    }
    stream_.copy_to_host(host, source, static_cast<std::size_t>(from.size()) * sizeof(float));
  });
}

void DeviceBackend::synchronize() {
  with_device_errors([&] {
    gpu::set_device(device_);
    stream_.synchronize();
    results_.clear();
  });
}

void DeviceBackend::run_captured(std::uint64_t key, const std::function<void()>& body) {
  const auto room = [this]() -> RecordedPasses::Room {
    return {plan_.tiles(),  plan_.starts(),         plan_.first_score(),
            shares_.data(), products_.split_room(), small_.room()};
  };
  with_device_errors([&] { passes_.run(key, body, room, stream_); });
}

double DeviceBackend::captured_seconds() {
  return with_device_errors([&] { return passes_.seconds(); });
}

namespace {

std::unique_ptr<Backend> make_device_backend(int device, const BackendOptions& options) {
  return with_device_errors([&]() -> std::unique_ptr<Backend> {
    return std::make_unique<DeviceBackend>(device, options);
  });
}

}  // namespace

const GpuTable kGpuTable = {&make_device_backend};

}  // namespace biogpu::nn
