// Weights and batches on their way to the device.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include "gpu/ops/gather/gather_rows.hpp"
#include "gpu/ops/gather/padded_heads.hpp"
#include "gpu/ops/gemm/gemm_operands.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/tensor/device_context_gpu.hpp"
#include "lib/tensor/linear_shape.hpp"

namespace biogpu::tensor {

namespace {

// Brings rows to the device in pieces and hands each to cast(rows, how many, the first's number).
template <class Cast>
void cast_rows(const Tensor& host, gpu::ops::Staging& staging, gpu::Stream& stream, Cast&& cast) {
  const std::int64_t width = host.shape[static_cast<std::size_t>(host.rank) - 1];
  const std::int64_t n_rows = host.size() / width;
  const std::int64_t at_once = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(gpu::ops::Staging::kBytes / sizeof(float)) / width);
  gpu::DeviceBuffer<float> piece(static_cast<std::size_t>(std::min(n_rows, at_once) * width));
  for (std::int64_t first = 0; first < n_rows; first += at_once) {
    const std::int64_t n = std::min(at_once, n_rows - first);
    staging.to_device(piece.data(), host.as<float>() + first * width,
                      static_cast<std::size_t>(n * width) * sizeof(float), stream);
    cast(gpu::ops::Rows{piece.data(), width, gpu::ops::Element::f32}, n, first);
  }
  stream.synchronize();  // the piece goes
}

// Without its sign; not finite where a number is not. The bits of numbers without sign are in the
// order of the numbers.
float largest_of(const Tensor& host) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < host.size(); ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(host.as<float>()[i]) & 0x7fffffffu);
  return std::bit_cast<float>(largest);
}

// A weight whose groups, its last axis, are no multiples of 8 long: each filled up with zeros, for
// kernels read 16 bytes at a time. Empty where nothing is to be filled up.
std::vector<float> padded_groups(const Tensor& weight) {
  const std::int64_t width = weight.shape[static_cast<std::size_t>(weight.rank) - 1];
  const std::int64_t padded = gpu::ops::padded_width(width);
  if (padded == width) return {};
  const std::int64_t n_groups = weight.size() / width;
  std::vector<float> filled(static_cast<std::size_t>(n_groups * padded));
  for (std::int64_t group = 0; group < n_groups; ++group)
    std::copy_n(weight.as<float>() + group * width, width, filled.data() + group * padded);
  return filled;
}

}  // namespace

Tensor DeviceContext::upload(const Tensor& host, DType as) {
  return with_device_errors([&] {
    Tensor copy = host;
    copy.dtype = as;
    copy.data = allocate(copy.bytes());
    if (as == DType::f32) {
      device_.staging().to_device(copy.data, host.data, host.bytes(), stream());
      return copy;
    }
    cast_rows(host, device_.staging(), stream(),
              [&](const gpu::ops::Rows& rows, std::int64_t n, std::int64_t first) {
                const gpu::ops::Rows to{copy.as<std::uint16_t>() + first * rows.stride, rows.stride,
                                        gpu::ops::element_of(as)};
                gpu::ops::launch_copy_rows(to, rows, nullptr, n, static_cast<int>(rows.stride),
                                           stream());
              });
    return copy;
  });
}

Linear DeviceContext::upload_linear(const Tensor& weight, const Tensor& bias) {
  return with_device_errors([&] {
    const bool split = compute_dtype() == DType::f32;
    auto packed = std::make_unique<gpu::ops::DeviceLinear>();
    Linear linear;
    linear.n_out = weight.shape[0];
    linear.n_in = weight_matrix(weight).shape[1];
    std::vector<float> padded = padded_groups(weight);
    const Tensor matrix =
        padded.empty()
            ? weight_matrix(weight)
            : Tensor(padded.data(), DType::f32, {linear.n_out, std::ssize(padded) / linear.n_out});
    packed->width = matrix.shape[1];
    packed->k = split ? 3 * packed->width : packed->width;
    packed->weight = static_cast<std::uint16_t*>(
        allocate(static_cast<std::size_t>(linear.n_out * packed->k) * sizeof(std::uint16_t)));
    const int width = static_cast<int>(packed->width);
    const float scale = split ? gpu::ops::split_scale(largest_of(weight)) : 1.0f;
    packed->sum_scale = 1 / scale;
    cast_rows(matrix, device_.staging(), stream(),
              [&](const gpu::ops::Rows& rows, std::int64_t n, std::int64_t first) {
                std::uint16_t* const to = packed->weight + first * packed->k;
                if (split) {
                  gpu::ops::launch_split_rows(to, rows, gpu::ops::SplitSide::b, scale, n, width,
                                              stream());
                } else {
                  gpu::ops::launch_copy_rows({to, width, gpu::ops::element_of(compute_dtype())},
                                             rows, nullptr, n, width, stream());
                }
              });
    if (!bias.empty()) {
      linear.bias = upload(bias, DType::f32);
      packed->bias = linear.bias.as<float>();
      if (!split) packed->bias16 = upload(bias, compute_dtype()).as<std::uint16_t>();
    }
    linear.packed = packed.get();
    linears_.push_back(std::move(packed));
    return linear;
  });
}

Ragged DeviceContext::upload_ragged(const std::vector<std::int32_t>& starts, Arena& arena) {
  return with_device_errors([&] {
    gpu::set_device(index_);
    Ragged ragged;
    ragged.n_rows = starts.back();
    ragged.n_segments = static_cast<std::int64_t>(starts.size()) - 1;
    ragged.starts = starts;
    std::vector<std::int32_t> positions(static_cast<std::size_t>(ragged.n_rows));
    for (std::int64_t s = 0; s < ragged.n_segments; ++s) {
      ragged.max_length = std::max(ragged.max_length, ragged.length(s));
      std::iota(positions.begin() + ragged.begin(s), positions.begin() + ragged.end(s), 0);
    }
    // What depends on the number of rows comes first: the same places for the same number.
    ragged.positions = arena.take(DType::i32, {ragged.n_rows});
    ragged.device_starts = arena.take(DType::i32, {ragged.n_segments + 1});
    copy_in(ragged.positions, positions.data());
    copy_in(ragged.device_starts, starts.data());
    ragged.plan = gpu::ops::Device::make_plan(starts);
    device_.plan(ragged);
    return ragged;
  });
}

void DeviceContext::copy_in(const Tensor& to, const void* host) {
  with_device_errors([&] {
    gpu::set_device(index_);  // threads use models of several devices in turns
    device_.staging().to_device(to.data, host, to.bytes(), stream());
  });
}

}  // namespace biogpu::tensor
