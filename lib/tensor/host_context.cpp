#include "lib/tensor/host_context.hpp"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "lib/core/parallel_for.hpp"
#include "lib/tensor/linear_shape.hpp"

namespace biogpu::tensor {

void* HostContext::allocate(std::size_t bytes) {
  MallocPtr<void> block = allocate_aligned(Arena::kAlignment, std::max<std::size_t>(1, bytes));
  void* const memory = block.get();
  blocks_.emplace(memory, std::move(block));
  return memory;
}

void HostContext::release(void* memory) { blocks_.erase(memory); }

std::uint64_t HostContext::free_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::uint64_t kilobytes = 0;
  while (file >> word)
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  struct sysinfo info {};
  ::sysinfo(&info);
  return static_cast<std::uint64_t>(info.freeram) * info.mem_unit;
}

Tensor HostContext::upload(const Tensor& host, DType) {
  Tensor copy = host;
  copy.data = allocate(host.bytes());
  parallel_copy(copy.data, host.data, host.bytes());
  return copy;
}

Linear HostContext::upload_linear(const Tensor& map, const Tensor& bias) {
  const Tensor weight = weight_matrix(map);
  Linear linear;
  linear.n_out = weight.shape[0];
  linear.n_in = weight.shape[1];
  linear.weight = upload(weight, DType::f32);
  if (!bias.empty()) linear.bias = upload(bias, DType::f32);
  return linear;
}

Ragged HostContext::upload_ragged(const std::vector<std::int32_t>& starts, Arena& arena) {
  Ragged ragged;
  ragged.n_rows = starts.back();
  ragged.n_segments = static_cast<std::int64_t>(starts.size()) - 1;
  ragged.starts = starts;
  ragged.positions = arena.take(DType::i32, {ragged.n_rows});
  ragged.device_starts = arena.take(DType::i32, {ragged.n_segments + 1});
  copy_in(ragged.device_starts, starts.data());
  auto* const positions = ragged.positions.as<std::int32_t>();
  for (std::int64_t s = 0; s < ragged.n_segments; ++s) {
    ragged.max_length = std::max(ragged.max_length, ragged.length(s));
    for (std::int64_t t = ragged.begin(s); t < ragged.end(s); ++t)
      positions[t] = static_cast<std::int32_t>(t - ragged.begin(s));
  }
  return ragged;
}

void HostContext::copy_in(const Tensor& to, const void* host) {
  if (to.bytes() > 0) std::memcpy(to.data, host, to.bytes());
}

void HostContext::copy_out(float* host, const Tensor& from) {
  const auto width = static_cast<std::size_t>(from.shape[1]);
  for (std::int64_t r = 0; r < from.shape[0]; ++r)
    std::copy_n(from.row<float>(r), width, host + static_cast<std::size_t>(r) * width);
}

void HostContext::copy_out(std::int32_t* host, const Tensor& from) {
  std::copy_n(from.as<std::int32_t>(), from.size(), host);
}

}  // namespace biogpu::tensor
