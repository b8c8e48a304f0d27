// Contact scores out of attention probabilities that are computed again, never stored.
//
// Shapes   see contacts.hpp; n residues of a sequence, H heads of h numbers.
// Mapping  accumulate: a block takes 16 residues of a sequence; its waves take 16 x 16 tiles of the
//          row in turn, all heads of a tile one after the other. finish: one wave per sequence and
//          channel for the totals, then one thread per pair.
// Traffic  q and k of a sequence n / 16 times, from L2; 8 n^2 bytes of scores a layer; 4 n^2 h H
//          operations on the matrix cores and 2 n^2 H exponentials.
// Result   fp32 sums in an order that depends on the sequence alone; fp32 operands count as sums of
//          two fp16 numbers.
// Source   Rao et al. 2020, doi 10.1101/2020.12.15.422761; Dunn, Wahl and Gloor 2008, doi
//          10.1093/bioinformatics/btm604.
// Oracle   lib/models/esm2/ops/contacts_ref.cpp.
#include "gpu/models/esm2/contacts.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/normalisation/layer_norm_row.hpp"
#include "gpu/prim/matrix_tile.hpp"
#include "gpu/rt/kernel.hpp"
#include "lib/models/esm2/ops/contacts.hpp"

namespace biogpu::gpu::esm2 {
namespace {

constexpr int kWaves = 4;
constexpr unsigned kBlock = 256;

// 16 rows of 16 numbers as an operand of the matrix cores, zeros beyond `n_rows` and `n_columns`,
// and what rounding to 16 bits left.
template <int kWave>
struct SplitOperand {
  TileOperand<kWave> high, low;
};

template <int kWave, Number16 kType, bool kIsB>
__device__ __forceinline__ SplitOperand<kWave> load_operand(const Rows& x, std::int64_t row,
                                                            std::int64_t column, int n_rows,
                                                            int n_columns) {
  const int lane = wave_lane<kWave>();
  SplitOperand<kWave> result;
#pragma unroll
  for (int w = 0; w < TileOperand<kWave>::kWords; ++w) {
    const int second = kIsB ? w / 2 : w % 2, upper = kIsB ? w % 2 : w / 2;
    const int r = kWave == 32 ? lane / 4 + 8 * second : lane % 16;
    const int k = kWave == 32 ? 2 * (lane % 4) + 8 * upper : 4 * (lane / 16) + 2 * w;
    float low = 0, high = 0;
    if (r < n_rows && k < n_columns) {
      low = load_element({x.data, x.stride, x.type}, row + r, static_cast<int>(column) + k);
      if (k + 1 < n_columns)
        high = load_element({x.data, x.stride, x.type}, row + r, static_cast<int>(column) + k + 1);
    }
    result.high.word[w] = number16_pair<kType>(low, high);
    result.low.word[w] =
        number16_pair<kType>(low - number16_of_pair<kType>(result.high.word[w], 0),
                             high - number16_of_pair<kType>(result.high.word[w], 1));
  }
  return result;
}

template <int kWave, Number16 kType, bool kSplit>
__device__ __forceinline__ void multiply_split(TileSum<kWave>& sum, const SplitOperand<kWave>& a,
                                               const SplitOperand<kWave>& b) {
  multiply_tile<kWave, kType>(sum, a.high, b.high);
  if constexpr (kSplit) {
    multiply_tile<kWave, kType>(sum, a.high, b.low);
    multiply_tile<kWave, kType>(sum, a.low, b.high);
  }
}

// Scores of 16 tokens from `row` for 16 tokens from `column`.
template <int kWave, Number16 kType, bool kSplit>
__device__ __forceinline__ TileSum<kWave> score_tile(const ContactArgs& a, const Rows& left,
                                                     const Rows& right, std::int64_t row,
                                                     std::int64_t column, int head, int n_left,
                                                     int n_right) {
  TileSum<kWave> sum = {};
  for (int k = 0; k < a.head; k += 16) {
    const std::int64_t at = head * a.head_stride + k;
    multiply_split<kWave, kType, kSplit>(
        sum, load_operand<kWave, kType, false>(left, row, at, n_left, a.head - k),
        load_operand<kWave, kType, true>(right, column, at, n_right, a.head - k));
  }
  return sum;
}

template <int kWave, Number16 kType, bool kSplit>
__global__ __launch_bounds__(kWaves* kWave) void contacts_kernel(ContactArgs a, int tiles) {
  BIOGPU_DYNAMIC_SHARED(float, sums);  // [kWaves, n_heads, 16]
  const int wave = static_cast<int>(threadIdx.x) / kWave;
  const std::int64_t sequence = blockIdx.x / static_cast<unsigned>(tiles);
  const int begin = a.starts[sequence] + 1;  // the first residue
  const int n = a.starts[sequence + 1] - 1 - begin;
  const int i0 = static_cast<int>(blockIdx.x) % tiles * 16;
  for (int i = static_cast<int>(threadIdx.x); i < kWaves * a.n_heads * 16; i += kWaves * kWave)
    sums[i] = 0;
  __syncthreads();
  for (int j0 = 16 * wave; j0 < n && i0 < n; j0 += 16 * kWaves) {
    TileSum<kWave> total = {};
    for (int head = 0; head < a.n_heads; ++head) {
      const auto forward = score_tile<kWave, kType, kSplit>(a, a.q, a.k, begin + i0, begin + j0,
                                                            head, n - i0, n - j0);
      const auto backward = score_tile<kWave, kType, kSplit>(a, a.k, a.q, begin + i0, begin + j0,
                                                             head, n - i0, n - j0);
      const float* const log_sums = a.log_sum_exp + head * a.log_sum_exp_stride + begin;
      float row_sum[kTileRowSlots<kWave>] = {};
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
        const int i = i0 + tile_row<kWave>(e), j = j0 + tile_column<kWave>(e);
        if (i >= n || j >= n) continue;
        const float both = expf(forward.value[e] * a.scale - log_sums[i]) +
                           expf(backward.value[e] * a.scale - log_sums[j]);
        total.value[e] += a.weight[head] * both;
        row_sum[tile_row_slot<kWave>(e)] += both;
      }
#pragma unroll
      for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot) {
        const float sum =
            reduce_tile_row<kWave>(row_sum[slot], [](float x, float y) { return x + y; });
        if (tile_column<kWave>(0) == 0)
          sums[(wave * a.n_heads + head) * 16 + tile_row<kWave>(2 * slot)] += sum;
      }
    }
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      const int i = i0 + tile_row<kWave>(e), j = j0 + tile_column<kWave>(e);
      if (i < n && j < n)
        a.scores[a.first_score[sequence] + std::int64_t{i} * n + j] += total.value[e];
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < a.n_heads * 16; i += kWaves * kWave) {
    float sum = 0;
    for (int w = 0; w < kWaves; ++w) sum += sums[w * a.n_heads * 16 + i];
    float* const channel = a.row_sums + i / 16 * a.row_sums_stride + begin;
    if (i0 + i % 16 < n) channel[i0 + i % 16] = sum;
    if (i % 16 == 0 && i0 == 0) channel[-1] = 0;           // the first token
    if (i % 16 == 0 && i0 == 0 && n >= 0) channel[n] = 0;  // the last
  }
}

template <int kWave>
__global__ __launch_bounds__(kBlock) void contact_totals_kernel(FinishContactArgs a) {
  const std::int64_t item = (blockIdx.x * std::int64_t{kBlock} + threadIdx.x) / kWave;
  if (item >= a.n_sequences * a.n_channels) return;
  const std::int64_t sequence = item / a.n_channels;
  const int channel = static_cast<int>(item % a.n_channels);
  float sum = 0;
  for (int t = a.starts[sequence] + wave_lane<kWave>(); t < a.starts[sequence + 1]; t += kWave)
    sum += a.row_sums[channel * a.row_sums_stride + t];
  sum = wave_sum<kWave>(sum);
  if (wave_lane<kWave>() == 0) a.share[item] = sum == 0 ? 0.0f : a.weight[channel] / sum;
}

__global__ __launch_bounds__(kBlock) void finish_contacts_kernel(FinishContactArgs a, int blocks) {
  const std::int64_t sequence = blockIdx.x / static_cast<unsigned>(blocks);
  const int begin = a.starts[sequence] + 1;
  const std::int64_t n = a.starts[sequence + 1] - 1 - begin;
  const std::int64_t pair =
      blockIdx.x % static_cast<unsigned>(blocks) * std::int64_t{kBlock} + threadIdx.x;
  if (n <= 0 || pair >= n * n) return;
  const float* const share = a.share + sequence * a.n_channels;
  float correction = 0;
  for (int c = 0; c < a.n_channels; ++c) {
    const float* const sums = a.row_sums + c * a.row_sums_stride + begin;
    correction += share[c] * sums[pair / n] * sums[pair % n];
  }
  float& score = a.scores[a.first_score[sequence] + pair];
  score = 1.0f / (1.0f + expf(correction - score - a.bias));
}

}  // namespace

void launch_accumulate_contacts(const ContactArgs& a, Stream& stream) {
  const int tiles = static_cast<int>(ceil_div(a.max_length, 16));
  if (a.n_sequences == 0 || tiles == 0) return;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    const auto run = [&](auto kernel) {
      stream.launch_shared(kernel, static_cast<std::size_t>(a.n_sequences * tiles), kWaves * wave,
                           sizeof(float) * kWaves * 16 * static_cast<std::size_t>(a.n_heads), a,
                           tiles);
    };
    if (a.q.type == Element::f32) return run(contacts_kernel<wave, Number16::fp16, true>);
    if (a.q.type == Element::fp16) return run(contacts_kernel<wave, Number16::fp16, false>);
    run(contacts_kernel<wave, Number16::bf16, false>);
  });
}

void launch_finish_contacts(const FinishContactArgs& a, Stream& stream) {
  if (a.n_sequences == 0 || a.max_length == 0) return;
  const std::int64_t n_totals = a.n_sequences * a.n_channels * stream.wave_width();
  stream.launch(stream.wave_width() == 64 ? contact_totals_kernel<64> : contact_totals_kernel<32>,
                static_cast<std::size_t>(ceil_div(n_totals, kBlock)), kBlock, a);
  const std::int64_t blocks = ceil_div(a.max_length * a.max_length, kBlock);
  stream.launch(finish_contacts_kernel, static_cast<std::size_t>(a.n_sequences * blocks), kBlock, a,
                static_cast<int>(blocks));
}

namespace {

// What both steps know of the batch's sequences.
template <class Args, class Op>
void set_sequences(Args& args, const Op& op) {
  args.starts = op.segments->device_starts.template as<std::int32_t>();
  args.first_score = op.first_score.template as<std::int64_t>();
  args.n_sequences = op.segments->n_segments;
  args.max_length = op.segments->max_length;
}

// Memory of finish_contacts.
struct ContactShares {
  explicit ContactShares(ops::Device&) {}
  DeviceBuffer<float> shares;
};

}  // namespace

void accumulate_contacts(ops::Device& device, const models::esm2::AccumulateContacts& op) {
  ContactArgs args;
  args.q = rows_of(op.q);
  args.k = rows_of(op.k);
  args.head_stride = op.q.stride[1];
  args.n_heads = static_cast<int>(op.q.shape[1]);
  args.head = static_cast<int>(op.q.shape[2]);
  args.scale = op.scale;
  args.log_sum_exp = op.log_sum_exp.as<float>();
  args.log_sum_exp_stride = op.log_sum_exp.stride[0];
  args.weight = op.weight.as<float>();
  args.scores = op.scores.as<float>();
  args.row_sums = op.row_sums.row<float>(op.first_channel);
  args.row_sums_stride = op.row_sums.stride[0];
  set_sequences(args, op);
  launch_accumulate_contacts(args, device.stream());
}

void finish_contacts(ops::Device& device, const models::esm2::FinishContacts& op) {
  FinishContactArgs args;
  args.scores = op.scores.as<float>();
  args.row_sums = op.row_sums.as<float>();
  args.row_sums_stride = op.row_sums.stride[0];
  args.weight = op.weight.as<float>();
  args.n_channels = static_cast<int>(op.row_sums.shape[0]);
  args.bias = op.bias;
  DeviceBuffer<float>& shares = device.state<ContactShares>().shares;
  device.grow(shares, static_cast<std::size_t>(op.segments->n_segments * args.n_channels));
  args.share = shares.data();
  set_sequences(args, op);
  launch_finish_contacts(args, device.stream());
}

}  // namespace biogpu::gpu::esm2
