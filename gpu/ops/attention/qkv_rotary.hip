// Queries, keys and values, with rotary positions in the product's epilogue or in a pass behind it.
//
// Shapes   see lib/ops/attention/qkv_rotary.hpp.
// Mapping  of the pass: one thread per 1, 4 or 8 pairs of one head, in order of memory.
// Traffic  of the pass: 2/3 of the array read and written; memory bound.
// Result   two products and a sum for each number.
// Source   Su et al. 2021, arXiv 2104.09864.
// Oracle   qkv_rotary_ref, lib/ops/attention/qkv_rotary_ref.cpp.
#include "gpu/ops/rotary.hpp"

#include <type_traits>

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/gemm/gemm_runner.hpp"
#include "gpu/ops/row_threads.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"

namespace biogpu::gpu::ops {
namespace {

// kWidth pairs a thread, all in one head.
template <int kWidth>
__global__ __launch_bounds__(kRowBlock) void rotary_kernel(Rows x, const float* cos_sin,
                                                           const std::int32_t* positions,
                                                           RotaryShape shape, std::int64_t n_rows) {
  const int half = shape.n_turned / 2;
  const RowGroup at = row_group(shape.n_heads * half / kWidth);
  if (at.row >= n_rows) return;
  const int pair = at.group * kWidth;
  const int column = pair / half * shape.head + pair % half;
  const float* const angles =
      cos_sin + std::int64_t{positions[at.row]} * shape.n_turned + pair % half;
  if constexpr (kWidth == 1) {
    const float a = load_element(x, at.row, column), b = load_element(x, at.row, column + half);
    store_element(x, at.row, column, a * angles[0] - b * angles[half]);
    store_element(x, at.row, column + half, b * angles[0] + a * angles[half]);
    return;
  }
  std::conditional_t<kWidth == 8, Float8, Float4> a, b;
  if constexpr (kWidth == 8) {
    a = load_elements8(x, at.row, column);
    b = load_elements8(x, at.row, column + half);
  } else {
    a = load_elements4(x, at.row, column);
    b = load_elements4(x, at.row, column + half);
  }
#pragma unroll
  for (int i = 0; i < kWidth; i += 4) {
    const Float4 cosine = *reinterpret_cast<const Float4*>(angles + i);
    const Float4 sine = *reinterpret_cast<const Float4*>(angles + half + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float& first = a.value[i + j];
      float& second = b.value[i + j];
      const float turned = first * cosine.value[j] - second * sine.value[j];
      second = second * cosine.value[j] + first * sine.value[j];
      first = turned;
    }
  }
  if constexpr (kWidth == 8) {
    store_elements8(x, at.row, column, a);
    store_elements8(x, at.row, column + half, b);
  } else {
    store_elements4(x, at.row, column, a);
    store_elements4(x, at.row, column + half, b);
  }
}

}  // namespace

void launch_rotary(const Rows& x, const float* cos_sin, const std::int32_t* positions,
                   const RotaryShape& shape, std::int64_t n_rows, Stream& stream) {
  if (n_rows == 0) return;
  // Pairs that lie side by side in both halves, in all heads and rows, are read at once.
  const auto suits = [&](int width) {
    return shape.n_turned % (2 * width) == 0 && shape.head % width == 0 && x.stride % width == 0 &&
           reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
  };
  const int width = suits(8) ? 8 : suits(4) ? 4 : 1;
  stream.launch(width == 8   ? rotary_kernel<8>
                : width == 4 ? rotary_kernel<4>
                             : rotary_kernel<1>,
                row_blocks(n_rows * (shape.n_heads * shape.n_turned / (2 * width))), kRowBlock, x,
                cos_sin, positions, shape, n_rows);
}

void qkv_rotary(Device& device, const biogpu::ops::QkvRotary& op) {
  GemmEpilogue epilogue;
  const int head = static_cast<int>(op.linear->n_out / 3 / op.n_heads);
  const int n_rotated = static_cast<int>(op.linear->n_out / 3 * 2);
  const std::int64_t n_rows = op.x.shape[0];
  const auto* const cos_sin = op.rotary.cos_sin.as<float>();
  const auto* const positions = op.positions.as<std::int32_t>();
  const bool rotates = !op.rotary.cos_sin.empty();
  const bool rotates_in_gemm = rotates && can_rotate_in_gemm(head);
  if (rotates_in_gemm) {
    epilogue.cos_sin = cos_sin;
    epilogue.positions = positions;
    epilogue.head = head;
    epilogue.n_rotated = n_rotated;
  }
  device.state<GemmRunner>().multiply(rows_of(op.x), n_rows, *op.linear, epilogue, rows_of(op.qkv));
  if (rotates && !rotates_in_gemm)
    launch_rotary(rows_of(op.qkv), cos_sin, positions, {head, head, n_rotated / head}, n_rows,
                  device.stream());
}

}  // namespace biogpu::gpu::ops
