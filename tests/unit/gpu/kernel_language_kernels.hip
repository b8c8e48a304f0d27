#include "tests/unit/gpu/kernel_language_kernels.hpp"

#include "gpu/prim/i16x2.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::test {
namespace {

constexpr unsigned kMaxThreads = 256;

__global__ void block_sum_kernel(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t partial[kMaxThreads];
  partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

template <int kWave>
__global__ void shuffles_kernel(std::uint32_t* out, int width) {
  const std::uint32_t value = 100 + threadIdx.x;
  std::uint32_t* mine = out + 6 * threadIdx.x;
  mine[0] = wave_shuffle<kWave>(value, 3, width);
  mine[1] = wave_shuffle_xor<kWave>(value, 1, width);
  mine[2] = wave_shuffle_up<kWave>(value, 2, width);
  mine[3] = wave_shuffle_down<kWave>(value, 2, width);
  mine[4] = kWave;
  mine[5] = wave_lane<kWave>();
}

template <int kWave>
__global__ void ballots_kernel(std::uint64_t* out) {
  out[threadIdx.x] = wave_ballot<kWave>(threadIdx.x % 3 == 0);
}

__global__ void histogram_kernel(const std::uint32_t* in, std::uint32_t n, std::uint32_t* bins,
                                 std::uint32_t n_bins) {
  BIOGPU_DYNAMIC_SHARED(std::uint32_t, block_bins);
  for (std::uint32_t bin = threadIdx.x; bin < n_bins; bin += blockDim.x) block_bins[bin] = 0;
  __syncthreads();
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    atomicAdd(&block_bins[in[i] % n_bins], 1u);
  }
  __syncthreads();
  for (std::uint32_t bin = threadIdx.x; bin < n_bins; bin += blockDim.x) {
    atomicAdd(&bins[bin], block_bins[bin]);
  }
}

// Whole waves leave, so that the barrier is legal on every platform.
__global__ void early_exit_kernel(std::uint32_t* count, unsigned n_early) {
  if (threadIdx.x < n_early) return;
  __syncthreads();
  atomicAdd(count, 1u);
}

// What the sum of a small number and b may be: itself where it is small too; negative; or anything.
__device__ bool is_small_sum(int got, int a, int b) {
  if (a + b < 0) return got < 0;
  return a + b > kMostSmall || got == a + b;
}

__global__ void small_sums_kernel(std::uint32_t* n_wrong) {
  const int a = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int high_a = kMostSmall - a;
  const I16x2 number = i16x2(a, high_a);
  std::uint32_t wrong = 0;
  for (int b = -kMostSmall; b <= kMostSmall; b += 3) {
    const I16x2 sum = i16x2_add_small(number, i16x2_small(b, -b));
    if (!is_small_sum(i16x2_low(sum), a, b)) ++wrong;
    if (!is_small_sum(i16x2_high(sum), high_a, -b)) ++wrong;
    const I16x2 equal = i16x2_add_small(number, i16x2_equal(b));
    if (!is_small_sum(i16x2_low(equal), a, b)) ++wrong;
    if (!is_small_sum(i16x2_high(equal), high_a, b)) ++wrong;
  }
  if (wrong > 0) atomicAdd(n_wrong, wrong);
}

}  // namespace

void launch_small_sums(std::uint32_t* n_wrong, Stream& stream) {
  constexpr unsigned kThreads = 128;
  static_assert((kMostSmall + 1) % kThreads == 0);
  stream.launch(small_sums_kernel, (kMostSmall + 1) / kThreads, kThreads, n_wrong);
}

void launch_block_sum(const std::uint32_t* in, std::uint32_t* out, std::uint32_t n_blocks,
                      unsigned n_threads, Stream& stream) {
  stream.launch(block_sum_kernel, n_blocks, n_threads, in, out);
}

void launch_shuffles(std::uint32_t* out, unsigned n_threads, int width, Stream& stream) {
  const auto kernel = stream.wave_width() == 64 ? shuffles_kernel<64> : shuffles_kernel<32>;
  stream.launch(kernel, 1, n_threads, out, width);
}

void launch_ballots(std::uint64_t* out, unsigned n_threads, Stream& stream) {
  const auto kernel = stream.wave_width() == 64 ? ballots_kernel<64> : ballots_kernel<32>;
  stream.launch(kernel, 1, n_threads, out);
}

void launch_histogram(const std::uint32_t* in, std::uint32_t n, std::uint32_t* bins,
                      std::uint32_t n_bins, Stream& stream) {
  stream.launch_shared(histogram_kernel, 4, 128, n_bins * sizeof(std::uint32_t), in, n, bins,
                       n_bins);
}

void launch_early_exit(std::uint32_t* count, unsigned n_threads, unsigned n_early, Stream& stream) {
  stream.launch(early_exit_kernel, 1, n_threads, count, n_early);
}

}  // namespace biogpu::gpu::test
