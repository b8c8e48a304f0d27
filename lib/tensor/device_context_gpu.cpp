#include "lib/tensor/device_context_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/ops/gather/gather_rows.hpp"
#include "gpu/ops/gemm/tiles.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/stream_order.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/tensor/gpu_context_gpu.hpp"
#include "lib/tensor/tuning/tuning_file.hpp"

namespace biogpu::tensor {

namespace {

int select(int device) {
  gpu::set_device(device);
  return device;
}

}  // namespace

DeviceContext::DeviceContext(int device, const ContextOptions& options)
    : index_(select(device)), options_(options), device_(options.precision, &parallel_copy) {
  device_.state<gpu::ops::GemmRunner>();  // opens the vendor's library, outside the first pass
  const std::vector<DeviceTuning> tuning = read_tuning(tuning_path());
  if (!tuning.empty())
    fill_tiles(device_.state<gpu::ops::Tiles>().table, tuning, gpu::device_properties(index_).name);
}

DeviceContext::~DeviceContext() {
  stream().synchronize();
  graphs_.clear();
  for (const auto& [memory, bytes] : allocated_) gpu::free_device(memory);
}

std::string DeviceContext::name() const { return fmt::format("gpu:{}", index_); }

void* DeviceContext::allocate(std::size_t bytes) {
  return with_device_errors([&] {
    gpu::set_device(index_);
    void* const memory = gpu::allocate_device(std::max<std::size_t>(bytes, 1));
    allocated_.emplace(memory, bytes);
    allocated_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, allocated_bytes_);
    return memory;
  });
}

void DeviceContext::release(void* memory) {
  const auto found = allocated_.find(memory);
  if (found == allocated_.end()) return;
  stream().synchronize();
  graphs_.clear();  // what was recorded may point there
  allocated_bytes_ -= found->second;
  allocated_.erase(found);
  gpu::free_device(memory);
}

std::uint64_t DeviceContext::free_bytes() {
  return with_device_errors([&] {
    gpu::set_device(index_);
    const std::uint64_t free = gpu::memory_info().free_bytes;
    const std::uint64_t limit = options_.max_device_bytes;
    if (limit == 0) return free;
    return std::min(free, limit - std::min(limit, allocated_bytes_));
  });
}

// Rows are brought together as f32 in device memory, and are on the host when synchronize() is
// called. Memory of host_memory() is copied to directly if it is pinned; other memory by the driver
// in small pieces, or, where it takes many bytes, by all threads from pinned ones.
void DeviceContext::copy_out(float* host, const Tensor& from) {
  with_device_errors([&] {
    gpu::set_device(index_);
    const std::int64_t n_rows = from.shape[0],
                       width = from.size() / std::max<std::int64_t>(1, n_rows);
    if (n_rows == 0) return;
    const void* source = from.data;
    if (from.dtype != DType::f32 || from.stride[0] != width) {
      results_.emplace_back(static_cast<std::size_t>(from.size()));
      gpu::ops::launch_copy_rows({results_.back().data(), width, gpu::ops::Element::f32},
                                 gpu::ops::rows_of(from), nullptr, n_rows, static_cast<int>(width),
                                 stream());
      source = results_.back().data();
    }
    const std::size_t bytes = static_cast<std::size_t>(from.size()) * sizeof(float);
    if (bytes > gpu::ops::Staging::kBytes && !pinned_.holds(host))
      device_.staging().to_host(host, source, bytes, stream());
    else
      stream().copy_to_host(host, source, bytes);
  });
}

void DeviceContext::copy_out(std::int32_t* host, const Tensor& from) {
  if (from.size() == 0) return;
  with_device_errors([&] {
    gpu::set_device(index_);
    stream().copy_to_host(host, from.data, from.bytes());
  });
}

void DeviceContext::synchronize() {
  with_device_errors([&] {
    gpu::set_device(index_);
    stream().synchronize();
    results_.clear();
  });
}

std::shared_ptr<float> DeviceContext::host_memory(std::size_t n) {
  const std::shared_ptr<void> pinned = with_device_errors([&] {
    gpu::set_device(index_);
    return pinned_.take(n * sizeof(float));
  });
  if (pinned == nullptr) return Context::host_memory(n);
  return {pinned, static_cast<float*>(pinned.get())};
}

void DeviceContext::wait_for_stream(void* foreign) {
  with_device_errors([&] {
    gpu::set_device(index_);
    gpu::wait_for_foreign(stream(), foreign);
  });
}

void DeviceContext::let_stream_wait(void* foreign) {
  with_device_errors([&] { gpu::let_foreign_wait(foreign, stream()); });
}

void DeviceContext::capture(std::uint64_t key, const std::function<void()>& body) {
  with_device_errors([&] {
    gpu::set_device(index_);
    graphs_.run(key, body, device_);
  });
}

double DeviceContext::captured_seconds() {
  return with_device_errors([&] {
    gpu::set_device(index_);
    return graphs_.seconds();
  });
}

GpuOp DeviceContext::gpu_op(std::string_view name) {
  for (const NamedGpuOp& op : list_gpu_ops())
    if (name == op.name) return op.run;
  return Context::gpu_op(name);
}

namespace {

std::unique_ptr<Context> make_device_context(int device, const ContextOptions& options) {
  return with_device_errors([&]() -> std::unique_ptr<Context> {
    return std::make_unique<DeviceContext>(device, options);
  });
}

void wait_for_stream(Context& context, void* stream) {
  static_cast<DeviceContext&>(context).wait_for_stream(stream);
}

void let_stream_wait(void* stream, Context& context) {
  static_cast<DeviceContext&>(context).let_stream_wait(stream);
}

}  // namespace

const GpuTable kGpuTable = {&make_device_context, &wait_for_stream, &let_stream_wait};

}  // namespace biogpu::tensor
