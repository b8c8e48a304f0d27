#pragma once

// warpgroup_product.hpp on the emulated platform: products read their operands as late as their
// waits allow, or some time before.

#include <cstdint>
#include <cstring>

#include "gpu/prim/warpgroup_emulated.hpp"
#include "gpu/prim/warpgroup_product.hpp"

namespace biogpu::gpu {

inline void products_begin() {}
inline void products_commit() { hip_on_host::close_group(hip_on_host::GroupQueue::products); }
template <int kLeft>
void products_wait() {
  hip_on_host::finish_groups(hip_on_host::GroupQueue::products, kLeft);
  wave_sync<32>();  // no lane goes on before those beside it have read their operands
}
inline void products_wait_behind(float) { products_wait<0>(); }
template <class Word, int kCount>
void products_fence(Word (&)[kCount]) {}

namespace detail {

// An operand in shared memory, as operand_at(), wide_operand_at() and narrow_operand_at() of
// warpgroup_product.hpp describe it.
template <Number16 kType>
struct SharedOperand {
  std::uint32_t first, box_bytes;
  std::uint32_t row_bytes;  // 64 or 128

  explicit SharedOperand(std::uint64_t operand)
      : first(static_cast<std::uint32_t>(operand & 0x3fff) << 4),
        box_bytes(static_cast<std::uint32_t>(operand >> 16 & 0x3fff) << 4),
        row_bytes(operand >> 30 == kNarrowOperand >> 30 ? 64 : 128) {
    if ((row_bytes == 128 && operand >> 30 != kBoxedOperand >> 30) || (operand >> 14 & 3) != 0)
      hip_on_host::fail("an operand of a product is not laid out in boxes");
  }
  float at(std::uint32_t row, std::uint32_t column) const {
    const std::uint32_t columns = row_bytes / 2;
    const std::uint32_t place =
        first + row * row_bytes + column / columns * box_bytes + column % columns * 2;
    const std::uint32_t mask = row_bytes / 16 - 1;
    std::uint16_t bits;
    std::memcpy(&bits, shared_at(place ^ (place >> 7 & mask) << 4), sizeof bits);
    return number16_value<kType>(bits);
  }
};

// The lane's two rows of the left operand, out of the registers of the lanes that hold them.
template <Number16 kType>
void gather_rows(const std::uint32_t* word, float (&row)[2][16]) {
  struct Words {
    std::uint32_t word[4];
  } mine;
  std::memcpy(&mine, word, sizeof mine);
  for (int t = 0; t < 4; ++t) {
    const Words lent = wave_shuffle<32>(mine, wave_lane<32>() / 4 * 4 + t);
    for (int i = 0; i < 8; ++i)
      row[i / 2 % 2][2 * t + i / 4 * 8 + i % 2] = number16_of_pair<kType>(lent.word[i / 2], i % 2);
  }
}

}  // namespace detail

template <int kColumns, Number16 kType>
struct WarpgroupProduct {
  static constexpr int kSums = kColumns / 2;

  template <bool kDownA = false, bool kDownB = kDownA>
  static void both(float (&d)[kSums], std::uint64_t a, std::uint64_t b, int adds) {
    const detail::SharedOperand<kType> left(a), right(b);
    add([=, sums = &d[0]] {
      const auto thread = threadIdx.x % 128;
      float row[2][16];
      for (std::uint32_t half = 0; half < 2; ++half) {
        for (std::uint32_t k = 0; k < 16; ++k) {
          const std::uint32_t line = thread / 32 * 16 + thread % 32 / 4 + 8 * half;
          row[half][k] = kDownA ? left.at(k, line) : left.at(line, k);
        }
      }
      multiply<kDownB>(sums, row, right, adds);
    });
  }
  template <bool kDown>
  static void right(float (&d)[kSums], const std::uint32_t* a, std::uint64_t b, int adds) {
    const detail::SharedOperand<kType> operand(b);
    add([=, sums = &d[0]] {
      float row[2][16];
      detail::gather_rows<kType>(a, row);
      multiply<kDown>(sums, row, operand, adds);
    });
  }

 private:
  template <class Work>
  static void add(Work&& work) {
    hip_on_host::add_to_group(hip_on_host::GroupQueue::products, work);
  }
  template <bool kDown>
  static void multiply(float* d, const float (&row)[2][16],
                       const detail::SharedOperand<kType>& operand, int adds) {
    const std::uint32_t first = threadIdx.x % 4 * 2;
    for (std::uint32_t j = 0; j < kColumns / 8; ++j) {
      for (std::uint32_t e = 0; e < 2; ++e) {
        const std::uint32_t column = 8 * j + first + e;
        // As multiply_tile() adds under emulation, one by one: both kinds of product give the same
        // bytes, as they do on a device.
        float* const to[2] = {d + 4 * j + e, d + 4 * j + 2 + e};
        float sum[2] = {adds != 0 ? *to[0] : 0, adds != 0 ? *to[1] : 0};
        for (std::uint32_t k = 0; k < 16; ++k) {
          const float x = kDown ? operand.at(k, column) : operand.at(column, k);
          sum[0] += row[0][k] * x;
          sum[1] += row[1][k] * x;
        }
        *to[0] = sum[0];
        *to[1] = sum[1];
      }
    }
  }
};

}  // namespace biogpu::gpu
