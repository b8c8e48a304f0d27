#include <algorithm>
#include <random>
#include <vector>

#include "gpu/prim/device_sort.hpp"
#include "gpu/roofline/roofline.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;

namespace {

std::int16_t half(std::uint32_t word, int which) {
  return static_cast<std::int16_t>(word >> (16 * which));
}

float bf16(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
}

template <class Key>
std::vector<Key> sorted_on_device(const std::vector<Key>& keys, int n_bits, std::size_t bytes) {
  gpu::Stream stream;
  const auto in = test::to_device(keys, stream);
  const gpu::DeviceBuffer<Key> out(keys.size());
  const gpu::DeviceBuffer<std::uint8_t> workspace(bytes);
  gpu::sort_keys(in.data(), out.data(), keys.size(), n_bits, workspace.data(), bytes, stream);
  return test::to_host(out, stream);
}

}  // namespace

TEST_CASE("gpu.i16x2: both halves are computed apart", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  std::mt19937 random(7);
  std::uniform_int_distribution<int> small(-16000, 16000);  // sums of two stay inside 16 bits
  const auto word = [&] {
    return (static_cast<std::uint32_t>(small(random)) << 16) |
           (static_cast<std::uint32_t>(small(random)) & 0xffffu);
  };
  const std::size_t n = GENERATE(1, 255, 256, 257, 3000);
  std::vector<std::uint32_t> a(n), b(n), c(n);
  for (auto* values : {&a, &b, &c}) std::generate(values->begin(), values->end(), word);
  const auto device_a = test::to_device(a, stream);
  const auto device_b = test::to_device(b, stream);
  const auto device_c = test::to_device(c, stream);
  const gpu::DeviceBuffer<std::uint32_t> out(gpu::roofline::kPackedResults * n);
  gpu::roofline::launch_packed(device_a.data(), device_b.data(), device_c.data(), n, out.data(),
                               stream);
  const auto results = test::to_host(out, stream);
  for (std::size_t i = 0; i < n; ++i) {
    for (int which = 0; which < 2; ++which) {
      const int x = half(a[i], which), y = half(b[i], which), z = half(c[i], which);
      const auto got = [&](std::size_t r) {
        return half(results[gpu::roofline::kPackedResults * i + r], which);
      };
      REQUIRE(got(0) == x + y);
      REQUIRE(got(1) == std::max(x, y));
      REQUIRE(got(2) == std::max({x, y, z}));
      REQUIRE(got(3) == std::max(x + y, z));
      REQUIRE(got(4) == std::max({x + y, z, 0}));
    }
  }
}

TEST_CASE("gpu.matrix_tile: the matrix cores multiply as plain loops do", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  std::vector<std::uint16_t> a(256), b(256);
  for (std::size_t i = 0; i < 256; ++i) {  // small integers: every product and sum is exact
    const float x = static_cast<float>(i * 7 % 13) - 6, y = static_cast<float>(i * 5 % 11) - 5;
    a[i] = static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, x) >> 16);
    b[i] = static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, y) >> 16);
  }
  const auto device_a = test::to_device(a, stream);
  const auto device_b = test::to_device(b, stream);
  const gpu::DeviceBuffer<float> out(256);
  gpu::roofline::launch_matrix_product(device_a.data(), device_b.data(), out.data(), stream);
  const auto product = test::to_host(out, stream);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 16; ++column) {
      float expected = 0;
      for (std::size_t k = 0; k < 16; ++k)
        expected += bf16(a[16 * row + k]) * bf16(b[16 * column + k]);
      CHECK(product[16 * row + column] == expected);
    }
  }
}

TEST_CASE("gpu.device_sort: keys come out ascending", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937_64 random(11);
  const std::size_t n = GENERATE(1, 31, 1000, 40000);
  std::vector<std::uint32_t> narrow(n);
  std::vector<std::uint64_t> wide(n);
  for (auto& key : narrow) key = static_cast<std::uint32_t>(random());
  for (auto& key : wide) key = random();
  const auto narrow_out = sorted_on_device(narrow, 32, gpu::sort_workspace_bytes_u32(n, 32));
  const auto wide_out = sorted_on_device(wide, 64, gpu::sort_workspace_bytes_u64(n, 64));
  std::sort(narrow.begin(), narrow.end());
  std::sort(wide.begin(), wide.end());
  CHECK(narrow_out == narrow);
  CHECK(wide_out == wide);
}
