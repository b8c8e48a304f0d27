// Softmax and its logarithm along any axis, with a mask.
//
// Shapes   see lib/ops/normalisation/softmax.hpp.
// Mapping  lines of more than 16 numbers that lie side by side: 32 lanes a line, lane l taking
//          numbers l, l + 32, ..., and a fixed tree. Others: one thread a line, so that
//          neighbouring threads read neighbouring numbers.
// Traffic  x and mask three times, twice of them from cache, and the result once; memory bound.
// Result   sums in an order that the line's length and its kind alone tell; the same for waves of
//          32 and 64. The device's expf and logf.
// Source   own.
// Oracle   softmax_ref, lib/ops/normalisation/softmax_ref.cpp.
#include "lib/ops/normalisation/softmax.hpp"

#include <cmath>

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/wave.hpp"
#include "lib/ops/normalisation/softmax_lines.hpp"

namespace biogpu::gpu::ops {
namespace {

using biogpu::ops::SoftmaxLines;

constexpr int kLineLanes = 32;
constexpr int kShortLine = 16;  // of which more than half of the lanes would have nothing

struct SoftmaxArgs {
  SoftmaxLines lines;
  Rows x, out;
  const void* mask;
  bool bytes;  // the mask's
  bool log;
  float scale, masked;
};

struct SoftmaxLine {
  std::int64_t x, mask, out;
};

__device__ __forceinline__ SoftmaxLine line_at(const SoftmaxLines& lines, std::int64_t line) {
  SoftmaxLine start{0, 0, 0};
#pragma unroll
  for (int i = SoftmaxLines::kOthers - 1; i >= 0; --i) {
    if (lines.shape[i] == 1) continue;
    const std::int64_t index = line % lines.shape[i];
    line /= lines.shape[i];
    start.x += index * lines.stride[SoftmaxLines::kX][i];
    start.mask += index * lines.stride[SoftmaxLines::kMask][i];
    start.out += index * lines.stride[SoftmaxLines::kOut][i];
  }
  return start;
}

__device__ __forceinline__ float logit(const SoftmaxArgs& a, const SoftmaxLine& line,
                                       std::int64_t i) {
  const float z = load_element(a.x, line.x + i * a.lines.step[SoftmaxLines::kX], 0) * a.scale;
  if (a.mask == nullptr) return z;
  const std::int64_t at = line.mask + i * a.lines.step[SoftmaxLines::kMask];
  if (!a.bytes) return z + static_cast<const float*>(a.mask)[at];
  return static_cast<const std::uint8_t*>(a.mask)[at] != 0 ? z : a.masked;
}

__device__ __forceinline__ void store_weight(const SoftmaxArgs& a, const SoftmaxLine& line,
                                             std::int64_t i, float top, float sum) {
  const float z = logit(a, line, i);
  float y;
  if (top == -INFINITY) {  // nothing is left of the line
    y = z != z ? z : a.log ? top : 0.0f;
  } else {
    y = a.log ? z - top - logf(sum) : expf(z - top) / sum;
  }
  store_element(a.out, line.out + i * a.lines.step[SoftmaxLines::kOut], 0, y);
}

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void softmax_lanes_kernel(SoftmaxArgs a) {
  const std::int64_t number = thread_number() / kLineLanes;
  const bool live = number < a.lines.n_lines;  // all lanes take part in the exchange
  const SoftmaxLine line = line_at(a.lines, live ? number : 0);
  const std::int64_t length = live ? a.lines.length : 0;
  const int lane = static_cast<int>(threadIdx.x) % kLineLanes;
  float top = -INFINITY, sum = 0;
  for (std::int64_t i = lane; i < length; i += kLineLanes) {
    const float z = logit(a, line, i);
    top = z > top ? z : top;
  }
  for (int mask = kLineLanes / 2; mask > 0; mask /= 2) {
    const float other = wave_shuffle_xor<kWave>(top, mask, kLineLanes);
    top = other > top ? other : top;
  }
  for (std::int64_t i = lane; i < length; i += kLineLanes) sum += expf(logit(a, line, i) - top);
  for (int mask = kLineLanes / 2; mask > 0; mask /= 2)
    sum += wave_shuffle_xor<kWave>(sum, mask, kLineLanes);
  for (std::int64_t i = lane; i < length; i += kLineLanes) store_weight(a, line, i, top, sum);
}

__global__ __launch_bounds__(kRowBlock) void softmax_threads_kernel(SoftmaxArgs a) {
  if (thread_number() >= a.lines.n_lines) return;
  const SoftmaxLine line = line_at(a.lines, thread_number());
  float top = -INFINITY, sum = 0;
  for (std::int64_t i = 0; i < a.lines.length; ++i) {
    const float z = logit(a, line, i);
    top = z > top ? z : top;
  }
  for (std::int64_t i = 0; i < a.lines.length; ++i) sum += expf(logit(a, line, i) - top);
  for (std::int64_t i = 0; i < a.lines.length; ++i) store_weight(a, line, i, top, sum);
}

}  // namespace

void softmax(Device& device, const biogpu::ops::Softmax& op) {
  if (op.x.size() == 0) return;
  const SoftmaxArgs args{biogpu::ops::softmax_lines(op),
                         {op.x.data, 1, element_of(op.x.dtype)},
                         {op.out.data, 1, element_of(op.out.dtype)},
                         op.mask.data,
                         op.mask.dtype == tensor::DType::u8,
                         op.log,
                         op.scale,
                         op.masked};
  Stream& stream = device.stream();
  const std::int64_t n = args.lines.n_lines;
  if (args.lines.step[SoftmaxLines::kX] > 1 || args.lines.length <= kShortLine)
    return stream.launch(softmax_threads_kernel, row_blocks(n), kRowBlock, args);
  const auto kernel =
      stream.wave_width() == 64 ? softmax_lanes_kernel<64> : softmax_lanes_kernel<32>;
  stream.launch(kernel, row_blocks(n * kLineLanes), kRowBlock, args);
}

}  // namespace biogpu::gpu::ops
