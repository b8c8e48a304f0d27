#pragma once

// Pools of pairs of rows by Hopper's products, second step: from logits, which are the products of
// the pairs' differences, to y = x1 + sigmoid(logit) (x0 - x1) and what the next layer reads of it.
//
// Mapping  one thread per 4 columns of a result.
// Traffic  4 bytes of logits a result, from L2; 8 of pairs and 2 to 8 of results, from and to
//          memory. Caches give up pairs and results first, so that the logits stay.
// Result   that of finish_values() for the same sums.

#include "gpu/ops/convolution/conv_args.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/cache_hints.hpp"

namespace biogpu::gpu::ops {

// Rows [first_row, first_row + m) of the result.
struct PoolPairs {
  const float* logits;  // [m, outputs.n]
  const RowPair* pairs;
  Rows paired;
  int first_row, m;
  Outputs outputs;
};

// What the kernel needs of a pool, besides columns in multiples of 8.
inline bool suits_pool_pairs(const ConvArgs& a) {
  const auto wide = [](const Rows& rows) {
    return rows.data == nullptr ||
           (rows.stride % 4 == 0 &&
            reinterpret_cast<std::uintptr_t>(rows.data) % (4 * bytes_of(rows.type)) == 0);
  };
  return a.paired.type == Element::f32 && a.residual.data == nullptr && wide(a.paired) &&
         wide(a.outputs.out) && wide(a.outputs.activated.out);
}

__device__ __forceinline__ Float4 load_channels4(const float* from, int c, float otherwise) {
  if (from == nullptr) return {otherwise, otherwise, otherwise, otherwise};
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Float4) == 0)
    return *reinterpret_cast<const Float4*>(from + c);
  return {from[c], from[c + 1], from[c + 2], from[c + 3]};
}

__device__ __forceinline__ Float4 stream_paired4(const Rows& rows, std::int64_t row, int c) {
  return load_streaming(reinterpret_cast<const Float4*>(static_cast<const float*>(rows.data) +
                                                        row * rows.stride + c));
}

__device__ __forceinline__ void stream_elements4(const Rows& to, std::int64_t row, int c,
                                                 const Float4& x) {
  const std::int64_t at = row * to.stride + c;
  if (to.type == Element::f32)
    return store_streaming(reinterpret_cast<Float4*>(static_cast<float*>(to.data) + at), x);
  Words2 words;
  pack_elements<4>(to.type, x.value, words.word);
  store_streaming(reinterpret_cast<Words2*>(static_cast<std::uint16_t*>(to.data) + at), words);
}

template <unsigned kThreads>
__global__ __launch_bounds__(kThreads) void pool_pairs_kernel(PoolPairs a) {
  static_assert(kThreads == kRowBlock);
  const RowGroup at = row_group(a.outputs.n / 4);
  if (at.row >= a.m) return;
  const int c = 4 * at.group;
  const std::int64_t row = a.first_row + at.row;
  const RowPair pair = a.pairs[row];
  const Float4 first = stream_paired4(a.paired, pair.first, c);
  const Float4 second = stream_paired4(a.paired, pair.second, c);
  const Float4 logit = *reinterpret_cast<const Float4*>(a.logits + at.row * a.outputs.n + c);
  Float4 y;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    y.value[i] = pool_pair(logit.value[i], first.value[i], second.value[i]);
  if (a.outputs.out.data != nullptr) stream_elements4(a.outputs.out, row, c, y);
  const ActivatedRows& next = a.outputs.activated;
  if (next.out.data == nullptr) return;
  const Float4 scale = load_channels4(next.scale, c, 1), shift = load_channels4(next.shift, c, 0);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    y.value[i] = activate(next.activation, y.value[i] * scale.value[i] + shift.value[i]);
  stream_elements4(next.out, row, c, y);
}

}  // namespace biogpu::gpu::ops
