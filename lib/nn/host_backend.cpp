#include "lib/nn/host_backend.hpp"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>

#include "lib/nn/pieces.hpp"

namespace biogpu::nn {

void HostBackend::Free::operator()(void* memory) const { std::free(memory); }

void* HostBackend::allocate(std::size_t bytes) {
  const std::size_t rounded =
      std::max<std::size_t>(1, (bytes + Arena::kAlignment - 1) / Arena::kAlignment) *
      Arena::kAlignment;
  std::unique_ptr<void, Free> block(std::aligned_alloc(Arena::kAlignment, rounded));
  if (block == nullptr) throw std::bad_alloc();
  void* const memory = block.get();
  blocks_.emplace(memory, std::move(block));
  return memory;
}

void HostBackend::release(void* memory) { blocks_.erase(memory); }

std::uint64_t HostBackend::free_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::uint64_t kilobytes = 0;
  while (file >> word)
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  struct sysinfo info {};
  ::sysinfo(&info);
  return static_cast<std::uint64_t>(info.freeram) * info.mem_unit;
}

Tensor HostBackend::upload(const Tensor& host, DType) {
  Tensor copy = host;
  copy.data = allocate(host.bytes());
  copy_bytes(copy.data, host.data, host.bytes());
  return copy;
}

Linear HostBackend::upload_linear(const Tensor& weight, const Tensor& bias) {
  Linear linear;
  linear.n_out = weight.shape[0];
  linear.n_in = weight.shape[1];
  linear.weight = upload(weight, DType::f32);
  if (!bias.empty()) linear.bias = upload(bias, DType::f32);
  return linear;
}

Batch HostBackend::upload_batch(const HostBatch& host, Arena& arena) {
  Batch batch;
  batch.n_tokens = static_cast<std::int64_t>(host.ids.size());
  batch.n_sequences = static_cast<std::int64_t>(host.starts.size()) - 1;
  batch.starts = host.starts;
  batch.ids = arena.take(DType::i32, {batch.n_tokens});
  batch.positions = arena.take(DType::i32, {batch.n_tokens});
  batch.device_starts = arena.take(DType::i32, {batch.n_sequences + 1});
  copy_in(batch.ids, host.ids.data());
  copy_in(batch.device_starts, host.starts.data());
  auto* const positions = batch.positions.as<std::int32_t>();
  for (std::size_t s = 0; s + 1 < host.starts.size(); ++s) {
    const std::int32_t begin = host.starts[s], end = host.starts[s + 1];
    batch.max_length = std::max<std::int64_t>(batch.max_length, end - begin);
    for (std::int32_t t = begin; t < end; ++t) positions[t] = t - begin;
  }
  if (!host.scale.empty()) {
    batch.scale = arena.take(DType::f32, {batch.n_tokens});
    copy_in(batch.scale, host.scale.data());
  }
  return batch;
}

void HostBackend::copy_in(const Tensor& to, const void* host) {
  if (to.bytes() > 0) std::memcpy(to.data, host, to.bytes());
}

void HostBackend::copy_out(float* host, const Tensor& from) {
  const auto width = static_cast<std::size_t>(from.shape[1]);
  for (std::int64_t r = 0; r < from.shape[0]; ++r)
    std::copy_n(from.row<float>(r), width, host + static_cast<std::size_t>(r) * width);
}

void HostBackend::clear(const Tensor& tensor) {
  if (tensor.bytes() > 0) std::memset(tensor.data, 0, tensor.bytes());
}

void HostBackend::gather_rows(const Tensor& to, const Tensor& from, const Tensor& rows) {
  const auto width = static_cast<std::size_t>(from.shape[1]);
  for (std::int64_t r = 0; r < rows.shape[0]; ++r)
    std::copy_n(from.row<float>(rows.as<std::int32_t>()[r]), width, to.row<float>(r));
}

}  // namespace biogpu::nn
