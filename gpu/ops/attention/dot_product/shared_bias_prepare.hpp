#pragma once

// What shared_bias_warpgroup.hip does before its kernel: the bias as BiasLayout says, the bits of
// masked keys, and zeros where pieces to be computed again are noted.

#include <cmath>
#include <type_traits>

#include "gpu/ops/attention/dot_product/dot_product_args.hpp"
#include "gpu/ops/attention/dot_product/shared_bias_layout.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/prim/number16.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

struct SharedBiasPreparation {
  static constexpr int kThreads = 256;
  static constexpr int kHeads = 4;  // of a block
  static constexpr int kRows = 16;  // queries of a block

  Rows bias;
  std::int64_t stride[3] = {0, 0, 0};  // from a head, query and key to the next
  int n_heads = 0, n_queries = 0, n_keys = 0;
  BiasLayout layout;
  std::uint16_t* to = nullptr;

  const void* key_mask = nullptr;  // or not given
  bool mask_is_f32 = false;
  std::int64_t mask_batch = 0, mask_key = 0;
  bool mask_is_finite = false;
  int n_batches = 0;
  std::uint64_t* masked = nullptr;
  float* masked_score = nullptr;

  std::int32_t* redo = nullptr;
  int n_redo = 0;

  __host__ __device__ int bias_blocks() const {
    return ceil_div(n_heads, kHeads) * layout.n_pairs * (2 * BiasLayout::kSide / kRows) *
           layout.n_steps;
  }
  __host__ __device__ int mask_blocks() const {
    return key_mask == nullptr ? 0 : ceil_div(n_batches, kThreads / 32);
  }
  __host__ __device__ int redo_blocks() const { return ceil_div(n_redo, 16 * kThreads); }
};

// Number e of 4 heads, 16 queries and 64 keys: those that lie together in memory come together.
struct BiasElement {
  int head, query, key;
  __device__ __forceinline__ BiasElement(const SharedBiasPreparation& a, int e) {
    constexpr int kHeads = SharedBiasPreparation::kHeads, kRows = SharedBiasPreparation::kRows;
    constexpr int kKeys = BiasLayout::kSide;
    const bool by_heads = a.stride[0] == 1 && a.n_heads > 1, by_keys = a.stride[2] <= a.stride[1];
    int rest = e;
    head = 0;
    if (by_heads) {
      head = rest % kHeads;
      rest /= kHeads;
    }
    if (by_keys) {
      key = rest % kKeys;
      rest /= kKeys;
      query = rest % kRows;
      rest /= kRows;
    } else {
      query = rest % kRows;
      rest /= kRows;
      key = rest % kKeys;
      rest /= kKeys;
    }
    if (!by_heads) head = rest;
  }
};

// The bias of 16 queries and 64 keys of up to four heads, for one block.
struct BiasPart {
  static constexpr int kHeads = SharedBiasPreparation::kHeads;
  static constexpr int kRows = SharedBiasPreparation::kRows;
  static constexpr int kKeys = BiasLayout::kSide;
  std::uint16_t value[kHeads][kRows][kKeys + 2];
  float reference[kHeads * kRows];
};

// What a bias of this type is stored as.
template <Element kType>
using BiasNumber = std::conditional_t<kType == Element::f32, float, std::uint16_t>;

template <Element kType>
__device__ __forceinline__ float bias_value(BiasNumber<kType> x) {
  if constexpr (kType == Element::f32) return x;
  if constexpr (kType == Element::fp16) return number16_value<Number16::fp16>(x);
  if constexpr (kType == Element::bf16) return number16_value<Number16::bf16>(x);
}

// key_of: number of a key that there is, or -1. What references are for is subtracted.
template <Element kType, bool kReferenced, class KeyOf>
__device__ __forceinline__ void load_bias(const SharedBiasPreparation& a, int first_head,
                                          int first_query, const KeyOf& key_of, BiasPart& part) {
  constexpr float kLog2E = 1.4426950408889634f;
  constexpr int kNumbers = BiasPart::kHeads * BiasPart::kRows * BiasPart::kKeys;
  constexpr int kOfThread = kNumbers / SharedBiasPreparation::kThreads;
  const auto element = [&](int i) {
    return BiasElement(a, i * SharedBiasPreparation::kThreads + static_cast<int>(threadIdx.x));
  };
  // All at once, so that the time is that of one access: what there is not is read elsewhere.
  BiasNumber<kType> raw[kOfThread];
#pragma unroll
  for (int i = 0; i < kOfThread; ++i) {
    const BiasElement at = element(i);
    const int head = first_head + at.head, query = first_query + at.query, key = key_of(at.key);
    const std::int64_t of_head = head < a.n_heads ? head : 0;
    const std::int64_t of_query = query < a.n_queries ? query : 0;
    const std::int64_t of_key = key >= 0 ? key : 0;
    raw[i] = static_cast<const BiasNumber<kType>*>(
        a.bias.data)[of_head * a.stride[0] + of_query * a.stride[1] + of_key * a.stride[2]];
  }
#pragma unroll
  for (int i = 0; i < kOfThread; ++i) {
    const BiasElement at = element(i);
    float x = kLog2E * bias_value<kType>(raw[i]);
    if constexpr (kReferenced) x -= part.reference[at.head * BiasPart::kRows + at.query];
    if (first_query + at.query >= a.n_queries) x = 0;
    if (key_of(at.key) < 0) x = -INFINITY;
    part.value[at.head][at.query][at.key] =
        static_cast<std::uint16_t>(number16_pair_or_infinite<Number16::fp16>(x, 0) & 0xffffu);
  }
}

// A number for each row of the bias that is subtracted from all of it, which changes no weight: the
// greatest of up to 64 keys. What is left is small where weights are large, as fp16 wants it.
template <Element kType>
__device__ __forceinline__ void find_bias_references(const SharedBiasPreparation& a, int first_head,
                                                     int first_query, BiasPart& part) {
  constexpr int kLanes = SharedBiasPreparation::kThreads / (BiasPart::kHeads * BiasPart::kRows);
  static_assert(kLanes == 4);
  load_bias<kType, false>(
      a, first_head, first_query,
      [&](int i) {
        if (a.n_keys <= BiasPart::kKeys) return i < a.n_keys ? i : -1;
        return static_cast<int>(std::int64_t{i} * a.n_keys / BiasPart::kKeys);
      },
      part);
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const std::uint16_t* const values = part.value[row / BiasPart::kRows][row % BiasPart::kRows];
  float top = -INFINITY;
#pragma unroll
  for (int i = 0; i < BiasPart::kKeys / kLanes; ++i)
    top = fmaxf(top, number16_value<Number16::fp16>(
                         values[i * kLanes + static_cast<int>(threadIdx.x) % kLanes]));
  top = fmaxf(top, wave_shuffle_xor<32>(top, 1));
  top = fmaxf(top, wave_shuffle_xor<32>(top, 2));
  if (threadIdx.x % kLanes == 0)
    part.reference[row] = top > -kLargestFp16 && top < kLargestFp16 ? top : 0;
  __syncthreads();
}

// 16 queries and 64 keys of up to four heads.
template <Element kType>
__device__ __forceinline__ void prepare_bias(const SharedBiasPreparation& a, int block) {
  constexpr int kHeads = BiasPart::kHeads;
  constexpr int kStrips = 2 * BiasLayout::kSide / BiasPart::kRows;
  __shared__ BiasPart part;
  const int step = block % a.layout.n_steps;
  int rest = block / a.layout.n_steps;
  const int strip = rest % kStrips;
  rest /= kStrips;
  const int pair = rest % a.layout.n_pairs, first_head = rest / a.layout.n_pairs * kHeads;
  const int first_query = pair * 2 * BiasLayout::kSide + strip * BiasPart::kRows;
  find_bias_references<kType>(a, first_head, first_query, part);
  load_bias<kType, true>(
      a, first_head, first_query,
      [&](int i) {
        const int key = step * BiasPart::kKeys + i;
        return key < a.n_keys ? key : -1;
      },
      part);
  __syncthreads();
  const int tile = strip / (kStrips / 2), wave = strip % (kStrips / 2);
  for (int i = static_cast<int>(threadIdx.x); i < kHeads * 32 * BiasLayout::kPieces;
       i += SharedBiasPreparation::kThreads) {
    const int lane = i % 32, piece = i / 32 % BiasLayout::kPieces,
              head = i / (32 * BiasLayout::kPieces);
    if (first_head + head >= a.n_heads) continue;
    Words4 words;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint16_t* const two = &part.value[head][BiasLayout::query_of(lane, 4 * piece + j)]
                                                  [BiasLayout::key_of(lane, 4 * piece + j)];
      words.word[j] = two[0] | static_cast<std::uint32_t>(two[1]) << 16;
    }
    *reinterpret_cast<Words4*>(a.to + a.layout.step_at(first_head + head, pair, step) +
                               tile * BiasLayout::kTile +
                               BiasLayout::pair_at(32 * wave + lane, 4 * piece)) = words;
  }
}

// One batch row a wave. Where all its keys are masked by a finite number, all weigh the same; by
// minus infinity, the general kernel has them.
__device__ __forceinline__ void prepare_mask(const SharedBiasPreparation& a, int block) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int b = block * (SharedBiasPreparation::kThreads / 32) + static_cast<int>(threadIdx.x) / 32;
  if (b >= a.n_batches) return;
  bool all = true;
  for (int step = 0; step < a.layout.n_steps; ++step) {
    std::uint64_t bits = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = step * BiasLayout::kSide + 32 * half + lane;
      bool masked = false;
      if (key < a.n_keys) {
        const std::int64_t at = b * a.mask_batch + key * a.mask_key;
        masked = a.mask_is_f32 ? static_cast<const float*>(a.key_mask)[at] == 0
                               : static_cast<const std::uint8_t*>(a.key_mask)[at] == 0;
        all = all && masked;
      }
      bits |= static_cast<std::uint64_t>(wave_ballot<32>(masked)) << (32 * half);
    }
    if (lane == 0) a.masked[std::int64_t{b} * a.layout.n_steps + step] = bits;
  }
  all = wave_ballot<32>(!all) == 0;
  if (lane == 0) a.masked_score[b] = all && a.mask_is_finite ? 0 : -INFINITY;
}

// kType: of the bias.
template <Element kType>
__global__ __launch_bounds__(SharedBiasPreparation::kThreads) void shared_bias_prepare_kernel(
    SharedBiasPreparation a) {
  int block = static_cast<int>(blockIdx.x);
  if (block < a.bias_blocks()) return prepare_bias<kType>(a, block);
  block -= a.bias_blocks();
  if (block < a.mask_blocks()) return prepare_mask(a, block);
  block -= a.mask_blocks();
  for (int i = 0; i < 16; ++i) {
    const int at =
        (block * 16 + i) * SharedBiasPreparation::kThreads + static_cast<int>(threadIdx.x);
    if (at < a.n_redo) a.redo[at] = 0;
  }
}

}  // namespace biogpu::gpu::ops
