#pragma once

#include <cstdint>

#include "gpu/ops/device.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::gpu::ops {

// Kernels of products and of attention read 16 bytes at a time: heads of a multiple of 8 numbers,
// at addresses and distances to match. Other heads are copied to memory of the device, filled up
// with zeros.
constexpr std::int64_t padded_width(std::int64_t n) { return (n + 7) / 8 * 8; }

// Whether such kernels take rows [T, h], heads [T, H, h] or batches of heads [B, T, H, h] where
// they are.
bool is_in_eights(const tensor::Tensor& x);
bool is_in_eights(const Rows& rows, std::int64_t width);

// A view of rows of `width` numbers.
tensor::Tensor tensor_of(const Rows& rows, std::int64_t n_rows, std::int64_t width);

// Copies of one operation's operands, each in a slot of its own.
enum class PadSlot : std::uint8_t { q, k, v, out, relative, content, position, rows, kCount };

// Room for x in its slot, contiguous, its last axis padded. The numbers are anything.
tensor::Tensor padded_room(Device& device, const tensor::Tensor& x, PadSlot slot);
// x where kernels take it so; otherwise a copy, with zeros behind the numbers of each head.
tensor::Tensor padded_copy(Device& device, const tensor::Tensor& x, PadSlot slot);
// The numbers of x from a padded copy of it.
void copy_from_padded(Device& device, const tensor::Tensor& padded, const tensor::Tensor& x);

// Runs an operation of attention with padded copies of what its kernels do not take as it is;
// false, and nothing done, where they take all of it.
template <class Op>
bool run_with_padded_heads(Device& device, const Op& op, void (*run)(Device&, const Op&)) {
  tensor::Tensor out = op.out;
  if (out.rank == 2) {  // heads one behind the other
    out = {op.out.data, op.out.dtype, {op.out.shape[0], op.q.shape[1], op.v.shape[2]}};
    out.stride[0] = op.out.stride[0];
  }
  if (is_in_eights(op.q) && is_in_eights(op.k) && is_in_eights(op.v) && is_in_eights(out))
    return false;
  Op padded = op;
  padded.q = padded_copy(device, op.q, PadSlot::q);
  padded.k = padded_copy(device, op.k, PadSlot::k);
  padded.v = padded_copy(device, op.v, PadSlot::v);
  const tensor::Tensor mixed = padded_room(device, out, PadSlot::out);
  padded.out = mixed;
  if (op.out.rank == 2)
    padded.out = {mixed.data, mixed.dtype, {mixed.shape[0], mixed.shape[1] * mixed.shape[2]}};
  if constexpr (requires { op.relative; }) {
    padded.relative = padded_copy(device, op.relative, PadSlot::relative);
    padded.content_bias = padded_copy(device, op.content_bias, PadSlot::content);
    padded.position_bias = padded_copy(device, op.position_bias, PadSlot::position);
  }
  run(device, padded);
  copy_from_padded(device, mixed, out);
  return true;
}

}  // namespace biogpu::gpu::ops
