#include <numeric>
#include <vector>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/gpu/kernel_language_kernels.hpp"

using namespace biogpu;

TEST_CASE("gpu.kernel_language: a block sums through shared memory", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const unsigned n_threads = GENERATE(1u, 32u, 64u, 128u, 256u);
  const std::uint32_t n_blocks = 3;
  std::vector<std::uint32_t> values(n_blocks * n_threads);
  std::iota(values.begin(), values.end(), 1u);
  const auto in = test::to_device(values, stream);
  const gpu::DeviceBuffer<std::uint32_t> out(n_blocks);
  gpu::test::launch_block_sum(in.data(), out.data(), n_blocks, n_threads, stream);
  const auto sums = test::to_host(out, stream);
  for (std::uint32_t block = 0; block < n_blocks; ++block) {
    const auto begin = values.begin() + block * n_threads;
    CHECK(sums[block] == std::accumulate(begin, begin + n_threads, 0u));
  }
}

TEST_CASE("gpu.kernel_language: shuffles stay inside their group of lanes", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const int wave = stream.wave_width();
  const int width = GENERATE(8, 16, 32, 64);
  if (width > wave) return;
  const unsigned n_threads = 128;
  const gpu::DeviceBuffer<std::uint32_t> out(6 * n_threads);
  gpu::test::launch_shuffles(out.data(), n_threads, width, stream);
  const auto results = test::to_host(out, stream);
  for (unsigned t = 0; t < n_threads; ++t) {
    const auto lanes = static_cast<unsigned>(width);
    const unsigned group = t / lanes * lanes;
    const unsigned* const got = &results[6 * t];
    CAPTURE(t, width);
    CHECK(got[0] == 100 + group + 3);
    CHECK(got[1] == 100 + (t ^ 1));
    CHECK(got[2] == 100 + (t - group >= 2 ? t - 2 : t));
    CHECK(got[3] == 100 + (t - group + 2 < lanes ? t + 2 : t));
    CHECK(got[4] == static_cast<unsigned>(wave));
    CHECK(got[5] == t % static_cast<unsigned>(wave));
  }
}

TEST_CASE("gpu.kernel_language: a ballot holds one bit per lane of the wave", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const auto wave = static_cast<unsigned>(stream.wave_width());
  const unsigned n_threads = 2 * wave;
  const gpu::DeviceBuffer<std::uint64_t> out(n_threads);
  gpu::test::launch_ballots(out.data(), n_threads, stream);
  const auto votes = test::to_host(out, stream);
  for (unsigned t = 0; t < n_threads; ++t) {
    std::uint64_t expected = 0;
    for (unsigned lane = 0; lane < wave; ++lane) {
      expected |= std::uint64_t{(t / wave * wave + lane) % 3 == 0} << lane;
    }
    CHECK(votes[t] == expected);
  }
}

TEST_CASE("gpu.kernel_language: atomics count in shared and device memory", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const std::uint32_t n_bins = 37;
  std::vector<std::uint32_t> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * i);
  std::vector<std::uint32_t> expected(n_bins);
  for (const std::uint32_t value : values) ++expected[value % n_bins];
  const auto in = test::to_device(values, stream);
  const gpu::DeviceBuffer<std::uint32_t> bins(n_bins);
  stream.fill(bins.data(), 0, bins.bytes());
  gpu::test::launch_histogram(in.data(), static_cast<std::uint32_t>(values.size()), bins.data(),
                              n_bins, stream);
  CHECK(test::to_host(bins, stream) == expected);
}

TEST_CASE("gpu.kernel_language: a barrier counts the threads that are left", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const auto wave = static_cast<unsigned>(stream.wave_width());
  const gpu::DeviceBuffer<std::uint32_t> count(1);
  stream.fill(count.data(), 0, count.bytes());
  gpu::test::launch_early_exit(count.data(), 4 * wave, wave, stream);
  CHECK(test::to_host(count, stream)[0] == 3 * wave);
}

TEST_CASE("gpu.i16x2: small sums are exact, and negative where they fall below 0",
          "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const gpu::DeviceBuffer<std::uint32_t> n_wrong(1);
  stream.fill(n_wrong.data(), 0, n_wrong.bytes());
  gpu::test::launch_small_sums(n_wrong.data(), stream);
  CHECK(test::to_host(n_wrong, stream)[0] == 0);
}
