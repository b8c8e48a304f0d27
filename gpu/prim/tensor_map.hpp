#pragma once

#include <cstdint>

namespace biogpu::gpu {

// A matrix in device memory as Hopper's copy engine sees it: passed to a kernel by value.
struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

// Whether the current device has warpgroup products and this build has the code for them.
bool has_warpgroups();

// Numbers of 16 bits, rows `stride` elements apart; boxes of box_rows x 64 go to shared memory in
// the 128-byte swizzle. data: a multiple of 16 bytes, stride of 8 elements. False where the driver
// refuses.
bool make_tensor_map(TensorMap* map, const void* data, std::int64_t n_rows, std::int64_t n_columns,
                     std::int64_t stride, int box_rows);

}  // namespace biogpu::gpu
