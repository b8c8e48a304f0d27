#pragma once

#include <cstdint>

namespace biogpu::gpu {

// How Hopper's copy engine finds boxes of a matrix in device memory; passed to kernels by value, as
// a `const BIOGPU_GRID_CONSTANT TensorMap`.
struct alignas(64) TensorMap {
  std::uint64_t word[16];
};

// A matrix with rows `stride` numbers apart, in boxes of box_rows rows (up to 256) of 128 bytes.
// Shared memory holds a box with its rows' pieces of 16 bytes permuted: piece p of row r lies at
// p ^ r % 8. data and rows: aligned to 16 bytes.
struct BoxedMatrix {
  const void* data = nullptr;
  std::int64_t n_rows = 0, n_columns = 0, stride = 0;
  // bits16: any 16 bits, which are copied but not added.
  enum class Number : std::uint8_t { bits16, fp16, bf16, f32 } number = Number::bits16;
  int box_rows = 0;
  // More than 0: so many such matrices, layer_stride numbers apart (whole 16 bytes). Their boxes
  // are of one layer; copy_layer_box() and store_layer_box() bring and store them.
  std::int64_t n_layers = 0, layer_stride = 0;
};

// Whether the current device has what gpu/prim/warpgroup.hpp speaks of, and its driver makes maps.
bool has_warpgroups();

// False where the driver refuses the matrix.
bool make_tensor_map(TensorMap* map, const BoxedMatrix& matrix);

// Heads [n_batches, n_rows, n_heads, width] of 16-bit numbers, in boxes of box_rows rows of one
// head and batch row. A box has 32 or 64 columns, zeros from `width` on, and rows of as many bytes
// as that takes. Shared memory holds its rows' pieces of 16 bytes permuted: of 128 bytes as above;
// of 64 bytes piece p of row r lies at p ^ r / 2 % 4. Distances are in numbers, multiples of 8.
struct BoxedHeads {
  const void* data = nullptr;
  std::int64_t width = 0, n_rows = 0, n_heads = 0, n_batches = 0;
  std::int64_t row_stride = 0, head_stride = 0, batch_stride = 0;
  int box_rows = 0, box_columns = 0;
};

// False where the driver refuses the heads.
bool make_heads_map(TensorMap* map, const BoxedHeads& heads);

}  // namespace biogpu::gpu
