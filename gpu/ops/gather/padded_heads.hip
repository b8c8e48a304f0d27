// Heads of any width at any place, filled up with zeros for kernels that read 16 bytes at a time,
// and back.
//
// Shapes   see padded_heads.hpp; n_batches of n_rows rows of n_heads heads.
// Mapping  one thread per number of the result, in order of memory.
// Traffic  each array once; memory bound. Only for widths that are no multiple of 8.
// Result   exact.
// Source   own.
// Oracle   tests/ops/widths/widths_test.cpp: operations at every width against their references.
#include "gpu/ops/gather/padded_heads.hpp"

#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

// Heads at any distances: steps from one batch, row and head to the next.
struct HeadSteps {
  Rows rows;
  std::int64_t batch = 0, head = 0;
  __device__ std::int64_t at(std::int64_t b, std::int64_t row, int h, int column) const {
    return b * batch + row * rows.stride + h * head + column;
  }
};

// to[b][row][head][e] = from[b][row][head][e], 0 from column n on.
struct HeadCopy {
  HeadSteps to, from;
  std::int64_t n_batches = 1, n_rows = 0;  // rows of a batch
  int n_heads = 0, width = 0, n = 0;       // width: columns of a head that are written
};

__global__ __launch_bounds__(kRowBlock) void copy_heads_kernel(HeadCopy a) {
  const RowGroup at = row_group(a.n_heads * a.width);
  if (at.row >= a.n_batches * a.n_rows) return;
  const int head = at.group / a.width, column = at.group % a.width;
  const std::int64_t b = a.n_batches == 1 ? 0 : at.row / a.n_rows, row = at.row - b * a.n_rows;
  const float value = column < a.n ? load_element({a.from.rows.data, 1, a.from.rows.type},
                                                  a.from.at(b, row, head, column), 0)
                                   : 0.0f;
  store_element({a.to.rows.data, 1, a.to.rows.type}, a.to.at(b, row, head, column), 0, value);
}

struct Heads {
  HeadSteps steps;
  std::int64_t n_batches, n_rows, n_heads, width;
};

Heads heads_of(const tensor::Tensor& x) {
  if (x.rank == 4) {
    const Rows rows{x.data, x.stride[1], element_of(x.dtype)};
    return {{rows, x.stride[0], x.stride[2]}, x.shape[0], x.shape[1], x.shape[2], x.shape[3]};
  }
  const bool one = x.rank == 2;
  return {{rows_of(x), 0, one ? 0 : x.stride[1]},
          1,
          x.shape[0],
          one ? 1 : x.shape[1],
          one ? x.shape[1] : x.shape[2]};
}

void copy_heads(Device& device, const tensor::Tensor& from, const tensor::Tensor& to) {
  const Heads source = heads_of(from), target = heads_of(to);
  HeadCopy copy;
  copy.to = target.steps;
  copy.from = source.steps;
  copy.n_batches = source.n_batches;
  copy.n_rows = source.n_rows;
  copy.n_heads = static_cast<int>(source.n_heads);
  copy.width = static_cast<int>(target.width);
  copy.n = static_cast<int>(source.width < target.width ? source.width : target.width);
  const std::int64_t n = copy.n_batches * copy.n_rows * copy.n_heads * std::int64_t{copy.width};
  if (n > 0) device.stream().launch(copy_heads_kernel, row_blocks(n), kRowBlock, copy);
}

// Of one device, kept between calls.
struct PaddedMemory {
  explicit PaddedMemory(Device&) {}
  DeviceBuffer<std::uint8_t> slots[static_cast<std::size_t>(PadSlot::kCount)];
};

}  // namespace

bool is_in_eights(const Rows& rows, std::int64_t width) {
  return width % 8 == 0 && rows.stride % 8 == 0 &&
         reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0;
}

bool is_in_eights(const tensor::Tensor& x) {
  const Heads heads = heads_of(x);
  return is_in_eights(heads.steps.rows, heads.width) && heads.steps.head % 8 == 0 &&
         heads.steps.batch % 8 == 0;
}

tensor::Tensor tensor_of(const Rows& rows, std::int64_t n_rows, std::int64_t width) {
  const tensor::DType type = rows.type == Element::fp16   ? tensor::DType::f16
                             : rows.type == Element::bf16 ? tensor::DType::bf16
                                                          : tensor::DType::f32;
  tensor::Tensor x(rows.data, type, {n_rows, width});
  x.stride[0] = rows.stride;
  return x;
}

tensor::Tensor padded_room(Device& device, const tensor::Tensor& x, PadSlot slot) {
  const Heads heads = heads_of(x);
  const std::int64_t width = padded_width(heads.width);
  DeviceBuffer<std::uint8_t>& memory =
      device.state<PaddedMemory>().slots[static_cast<std::size_t>(slot)];
  device.grow(memory,
              static_cast<std::size_t>(heads.n_batches * heads.n_rows * heads.n_heads * width) *
                  bytes_of(element_of(x.dtype)));
  if (x.rank == 4)
    return {memory.data(), x.dtype, {heads.n_batches, heads.n_rows, heads.n_heads, width}};
  if (x.rank == 2) return {memory.data(), x.dtype, {heads.n_rows, width}};
  return {memory.data(), x.dtype, {heads.n_rows, heads.n_heads, width}};
}

tensor::Tensor padded_copy(Device& device, const tensor::Tensor& x, PadSlot slot) {
  if (is_in_eights(x)) return x;
  const tensor::Tensor padded = padded_room(device, x, slot);
  copy_heads(device, x, padded);
  return padded;
}

void copy_from_padded(Device& device, const tensor::Tensor& padded, const tensor::Tensor& x) {
  copy_heads(device, padded, x);
}

}  // namespace biogpu::gpu::ops
