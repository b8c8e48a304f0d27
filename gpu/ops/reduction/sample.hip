// A column of each row, drawn with the probabilities of its softmax.
//
// Shapes   see lib/ops/reduction/sample.hpp.
// Mapping  32 lanes a row, lane l taking columns l, l + 32, ...; the running sum goes through the
//          lanes in the order of the columns.
// Traffic  4 V bytes a row, three times, twice of them from cache; bound by 2 V additions that wait
//          for each other.
// Result   sums in double precision in the order of the columns: the column that the CPU draws but
//          where exp rounds otherwise just there, about once in 1e13 draws; the same for all grids
//          and widths.
// Source   Salmon et al. 2011, doi 10.1145/2063384.2063405.
// Oracle   sample_ref, lib/ops/reduction/sample_ref.cpp.
#include "lib/ops/reduction/sample.hpp"

#include <cmath>

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/wave.hpp"

#define BIOGPU_PHILOX_FUNCTION __host__ __device__ __forceinline__
#include "lib/core/philox.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kSampleLanes = 32;

struct SampleArgs {
  const float* logits;
  std::int64_t stride, n_rows;
  int n_columns;
  double temperature;
  std::uint32_t seed_low, seed_high;
  const std::int32_t *streams, *steps;
  std::int32_t* out;
};

__device__ __forceinline__ double weight_of(const SampleArgs& a, float logit, float top) {
  if (logit == top) return top == -INFINITY ? 0.0 : 1.0;
  if (!(logit < top)) return 0.0;
  return exp(static_cast<double>(logit) / a.temperature - static_cast<double>(top) / a.temperature);
}

__device__ __forceinline__ double uniform_of(const SampleArgs& a, std::int64_t row) {
  const auto stream = static_cast<std::uint32_t>(a.streams != nullptr ? a.streams[row] : row);
  std::uint32_t random[4] = {a.steps != nullptr ? static_cast<std::uint32_t>(a.steps[row]) : 0u,
                             stream, biogpu::ops::Sample::kPurpose, 0};
  philox(random, a.seed_low, a.seed_high);
  return philox_unit(random[0], random[1]);
}

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void sample_kernel(SampleArgs a) {
  const std::int64_t row = thread_number() / kSampleLanes;
  const bool live = row < a.n_rows;  // all lanes take part in the exchange
  const float* const x = a.logits + (live ? row * a.stride : 0);
  const int n = a.n_columns, lane = static_cast<int>(threadIdx.x) % kSampleLanes;
  float top = -INFINITY;
  for (int c = lane; live && c < n; c += kSampleLanes) top = x[c] > top ? x[c] : top;
  for (int mask = kSampleLanes / 2; mask > 0; mask /= 2) {
    const float other = wave_shuffle_xor<kWave>(top, mask, kSampleLanes);
    top = other > top ? other : top;
  }
  // The sum behind each column in turn, in all lanes: visit(column, its weight, the sum).
  const auto run_through = [&](const auto& visit) {
    double sum = 0;
    for (int begin = 0; begin < n; begin += kSampleLanes) {
      const int c = begin + lane;
      const double weight = live && c < n ? weight_of(a, x[c], top) : 0.0;
      for (int l = 0; l < kSampleLanes; ++l) {
        const double of_column = wave_shuffle<kWave>(weight, l, kSampleLanes);
        sum += of_column;
        visit(begin + l, of_column, sum);
      }
    }
    return sum;
  };
  const double whole = run_through([](int, double, double) {});
  const double wanted = live ? uniform_of(a, row) * whole : 0.0;
  int drawn = -1, last = 0;
  run_through([&](int c, double weight, double sum) {
    if (weight > 0) last = c;
    if (drawn < 0 && sum > wanted) drawn = c;
  });
  if (live && lane == 0) a.out[row] = drawn < 0 ? last : drawn;
}

}  // namespace

void sample(Device& device, const biogpu::ops::Sample& op) {
  const SampleArgs args{op.logits.as<float>(),
                        op.logits.stride[0],
                        op.logits.shape[0],
                        static_cast<int>(op.logits.shape[1]),
                        static_cast<double>(op.temperature),
                        static_cast<std::uint32_t>(op.seed),
                        static_cast<std::uint32_t>(op.seed >> 32),
                        op.streams.as<std::int32_t>(),
                        op.steps.as<std::int32_t>(),
                        op.out.as<std::int32_t>()};
  if (args.n_rows == 0) return;
  Stream& stream = device.stream();
  const auto kernel = stream.wave_width() == 64 ? sample_kernel<64> : sample_kernel<32>;
  stream.launch(kernel, row_blocks(args.n_rows * kSampleLanes), kRowBlock, args);
}

}  // namespace biogpu::gpu::ops
