// Weights and batches on their way to the device.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "gpu/nn/row_ops.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/nn/device_backend_gpu.hpp"

namespace biogpu::nn {

namespace device_nn = gpu::nn;

namespace {

// Brings rows to the device in pieces and hands each to cast(rows, how many, the first's number).
template <class Cast>
void cast_rows(const Tensor& host, Staging& staging, gpu::Stream& stream, Cast&& cast) {
  const std::int64_t width = host.shape[static_cast<std::size_t>(host.rank) - 1];
  const std::int64_t n_rows = host.size() / width;
  const std::int64_t at_once =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(Staging::kBytes / sizeof(float)) / width);
  gpu::DeviceBuffer<float> piece(static_cast<std::size_t>(std::min(n_rows, at_once) * width));
  for (std::int64_t first = 0; first < n_rows; first += at_once) {
    const std::int64_t n = std::min(at_once, n_rows - first);
    staging.to_device(piece.data(), host.as<float>() + first * width,
                      static_cast<std::size_t>(n * width) * sizeof(float), stream);
    cast(device_nn::Rows{piece.data(), width, device_nn::Element::f32}, n, first);
  }
  stream.synchronize();  // the piece goes
}

BatchPlan plan_of(const std::vector<std::int32_t>& starts) {
  BatchPlan plan;
  plan.tiles = device_nn::query_tiles(starts);
  plan.starts = starts;
  std::int64_t first_score = 0;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    plan.first_score.push_back(first_score);
    const std::int64_t n_residues = std::max(0, starts[s + 1] - starts[s] - 2);
    first_score += n_residues * n_residues;
  }
  return plan;
}

}  // namespace

Tensor DeviceBackend::upload(const Tensor& host, DType as) {
  return with_device_errors([&] {
    Tensor copy = host;
    copy.dtype = as;
    copy.data = allocate(copy.bytes());
    if (as == DType::f32) {
      staging_.to_device(copy.data, host.data, host.bytes(), stream_);
      return copy;
    }
    cast_rows(host, staging_, stream_,
              [&](const device_nn::Rows& rows, std::int64_t n, std::int64_t first) {
                const device_nn::Rows to{copy.as<std::uint16_t>() + first * rows.stride,
                                         rows.stride, element_of(as)};
                device_nn::launch_copy_rows(to, rows, nullptr, n, static_cast<int>(rows.stride),
                                            stream_);
              });
    return copy;
  });
}

Linear DeviceBackend::upload_linear(const Tensor& weight, const Tensor& bias) {
  return with_device_errors([&] {
    const bool split = operand() == DType::f32;
    auto packed = std::make_unique<DeviceLinear>();
    Linear linear;
    linear.n_out = weight.shape[0];
    linear.n_in = weight.shape[1];
    if (linear.n_in % 8 != 0)
      throw Error(ErrorCode::failed,
                  fmt::format("a matrix of {} columns; GPUs take multiples of 8", linear.n_in));
    packed->k = split ? 3 * linear.n_in : linear.n_in;
    packed->weight = static_cast<std::uint16_t*>(
        allocate(static_cast<std::size_t>(linear.n_out * packed->k) * sizeof(std::uint16_t)));
    const int width = static_cast<int>(linear.n_in);
    cast_rows(weight, staging_, stream_,
              [&](const device_nn::Rows& rows, std::int64_t n, std::int64_t first) {
                std::uint16_t* const to = packed->weight + first * packed->k;
                if (split) {
                  device_nn::launch_split_rows(to, rows, device_nn::SplitSide::b, n, width,
                                               stream_);
                } else {
                  device_nn::launch_copy_rows({to, linear.n_in, element_of(operand())}, rows,
                                              nullptr, n, width, stream_);
                }
              });
    if (!bias.empty()) {
      linear.bias = upload(bias, DType::f32);
      packed->bias = linear.bias.as<float>();
      if (!split) packed->bias16 = upload(bias, operand()).as<std::uint16_t>();
    }
    linear.packed = packed.get();
    linears_.push_back(std::move(packed));
    return linear;
  });
}

Batch DeviceBackend::upload_batch(const HostBatch& host, Arena& arena) {
  return with_device_errors([&] {
    gpu::set_device(device_);
    Batch batch;
    batch.n_tokens = static_cast<std::int64_t>(host.ids.size());
    batch.n_sequences = static_cast<std::int64_t>(host.starts.size()) - 1;
    batch.starts = host.starts;
    std::vector<std::int32_t> positions(host.ids.size());
    for (std::size_t s = 0; s + 1 < host.starts.size(); ++s) {
      const std::int32_t begin = host.starts[s], end = host.starts[s + 1];
      batch.max_length = std::max<std::int64_t>(batch.max_length, end - begin);
      std::iota(positions.begin() + begin, positions.begin() + end, 0);
    }
    // What depends on the number of tokens comes first: the same places for the same number.
    batch.ids = arena.take(DType::i32, {batch.n_tokens});
    batch.positions = arena.take(DType::i32, {batch.n_tokens});
    if (!host.scale.empty()) batch.scale = arena.take(DType::f32, {batch.n_tokens});
    batch.device_starts = arena.take(DType::i32, {batch.n_sequences + 1});
    copy_in(batch.ids, host.ids.data());
    copy_in(batch.positions, positions.data());
    copy_in(batch.device_starts, host.starts.data());
    if (!host.scale.empty()) copy_in(batch.scale, host.scale.data());
    batch.plan = std::make_shared<BatchPlan>(plan_of(host.starts));
    load_plan(batch);
    return batch;
  });
}

void DeviceBackend::copy_in(const Tensor& to, const void* host) {
  with_device_errors([&] { staging_.to_device(to.data, host, to.bytes(), stream_); });
}

void DeviceBackend::load_plan(const Batch& batch) {
  plan_.load(std::static_pointer_cast<BatchPlan>(batch.plan), staging_, stream_);
}

}  // namespace biogpu::nn
