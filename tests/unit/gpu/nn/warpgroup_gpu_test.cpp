// The kernels for Hopper beside the portable ones on the same device; elsewhere they decline.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gpu/nn/attention_warpgroup.hpp"
#include "gpu/nn/gemm_warpgroup.hpp"
#include "gpu/rt/tensor_map.hpp"
#include "lib/nn/float16.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using gpu::Number16;
using gpu::nn::Element;
using test::to_device;
using test::to_host;

namespace {

std::uint16_t bits_of(float x, Number16 type) {
  return type == Number16::fp16 ? nn::to_f16(x) : nn::to_bf16(x);
}
float value_of(std::uint16_t bits, Number16 type) {
  return type == Number16::fp16 ? nn::from_f16(bits) : nn::from_bf16(bits);
}

std::vector<float> random_values(std::size_t n, float size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, size);
  std::vector<float> values(n);
  for (float& x : values) x = normal(random);
  return values;
}

std::vector<std::uint16_t> random_bits(std::size_t n, float size, Number16 type, unsigned seed) {
  std::vector<std::uint16_t> bits;
  for (const float x : random_values(n, size, seed)) bits.push_back(bits_of(x, type));
  return bits;
}

// The largest difference in units of 1 + |x|.
double difference(const std::vector<float>& x, const std::vector<float>& y) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = std::abs(double{x[i]} - y[i]) / (1 + std::abs(double{x[i]}));
    worst = d > worst || std::isnan(d) ? d : worst;
    if (std::isnan(d)) break;
  }
  return worst;
}

struct Product {
  int m, n, k;
  std::string epilogue;  // "", "gelu", "rotary", "residual"
};

// Results of one of the two kernels; empty where it declines.
class Products {
 public:
  Products(const Product& p, Number16 type, gpu::Stream& stream)
      : p_(p), type_(type), stream_(stream), n_out_(static_cast<std::size_t>(p.m) * p.n) {
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
               k = static_cast<std::size_t>(p.k);
    a_ = to_device(random_bits(m * k, 1, type, 1), stream);
    b_ = to_device(random_bits(n * k, 1 / std::sqrt(static_cast<float>(p.k)), type, 2), stream);
    bias_ = to_device(random_values(n, 1, 3), stream);
    angles_ = to_device(random_values(64 * 256, 1, 4), stream);
    std::vector<std::int32_t> positions(m);
    for (std::size_t i = 0; i < m; ++i) positions[i] = static_cast<std::int32_t>(i % 256);
    positions_ = to_device(positions, stream);
  }

  std::vector<float> run(bool warpgroups) {
    const bool wide = p_.epilogue == "residual";
    auto out16 = to_device(std::vector<std::uint16_t>(wide ? 1 : n_out_, 0xffff), stream_);
    auto out32 = to_device(random_values(wide ? n_out_ : 1, 1, 5), stream_);
    gpu::nn::GemmArgs args;
    args.a = a_.data();
    args.b = b_.data();
    args.lda = args.ldb = args.k = p_.k;
    args.m = p_.m;
    args.n = p_.n;
    args.epilogue.bias = bias_.data();
    args.epilogue.gelu = p_.epilogue == "gelu";
    const Element operand = type_ == Number16::fp16 ? Element::fp16 : Element::bf16;
    args.out = {out16.data(), p_.n, operand};
    if (wide) {
      args.out = {out32.data(), p_.n, Element::f32};
      args.epilogue.residual = args.out;
    }
    if (p_.epilogue == "rotary") {
      args.epilogue.cos_sin = angles_.data();
      args.epilogue.positions = positions_.data();
      args.epilogue.head = 64;
      args.epilogue.n_rotated = p_.n / 192 * 128;
    }
    if (!warpgroups) {
      gpu::nn::launch_gemm(args, type_, stream_);
    } else if (!gpu::nn::launch_gemm_warpgroup(args, type_, stream_)) {
      return {};
    }
    if (wide) return to_host(out32, stream_);
    std::vector<float> values;
    for (const std::uint16_t bits : to_host(out16, stream_))
      values.push_back(value_of(bits, type_));
    return values;
  }

 private:
  Product p_;
  Number16 type_;
  gpu::Stream& stream_;
  std::size_t n_out_;
  gpu::DeviceBuffer<std::uint16_t> a_, b_;
  gpu::DeviceBuffer<float> bias_, angles_;
  gpu::DeviceBuffer<std::int32_t> positions_;
};

double tolerance(Number16 type) { return type == Number16::fp16 ? 1.5e-3 : 1.2e-2; }

}  // namespace

TEST_CASE("warpgroup: products equal those of the portable kernel") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const bool available = gpu::has_warpgroups();
  // Sizes that are no multiples of a tile; k shorter than a round of stages, and many rounds.
  const Product products[] = {{2100, 1160, 72, ""},        {2100, 1160, 712, "gelu"},
                              {1500, 1920, 640, "rotary"}, {1411, 1992, 328, "residual"},
                              {2048, 1280, 64, "gelu"},    {130, 17000, 128, "residual"}};
  for (const Product& p : products) {
    for (const Number16 type : {Number16::fp16, Number16::bf16}) {
      if (!available) {
        Products small({64, 64, 64, p.epilogue}, type, stream);
        REQUIRE(small.run(true).empty());
        continue;
      }
      Products of_shape(p, type, stream);
      const std::vector<float> got = of_shape.run(true), expected = of_shape.run(false);
      CAPTURE(p.m, p.n, p.k, p.epilogue);
      REQUIRE(got.size() == expected.size());
      REQUIRE(difference(expected, got) < (p.epilogue == "residual" ? 1e-4 : tolerance(type)));
      REQUIRE(of_shape.run(true) == got);
    }
  }
}

TEST_CASE("warpgroup: attention equals that of the portable kernel, alone and in a batch") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const bool available = gpu::has_warpgroups();
  const int n_heads = 3, d = n_heads * 64;
  // Around the steps of 64 keys and the tiles of 128 queries, and many short ones in a row.
  std::vector<std::int32_t> lengths = {1, 63, 64, 65, 127, 128, 129, 300, 700};
  for (int i = 0; i < 200; ++i) lengths.push_back(1 + i * 37 % 90);
  if (!available) lengths = {5};
  std::vector<std::int32_t> starts = {0};
  for (const std::int32_t length : lengths) starts.push_back(starts.back() + length);
  const auto n_rows = static_cast<std::size_t>(starts.back()) + 40;
  for (const Number16 type : {Number16::fp16, Number16::bf16}) {
    auto bits = random_bits(n_rows * 3 * d, 1.5f, type, 6);
    // Rows past the last sequence hold anything.
    for (std::size_t i = static_cast<std::size_t>(starts.back()) * 3 * d; i < bits.size(); ++i)
      bits[i] = 0xffff;
    const auto qkv = to_device(bits, stream);
    const auto run = [&](const std::vector<std::int32_t>& of, bool warpgroups) {
      auto out = to_device(std::vector<std::uint16_t>(n_rows * d, 0xffff), stream);
      auto sums = to_device(std::vector<float>(n_heads * n_rows, -1), stream);
      const auto tiles = to_device(gpu::nn::query_tiles(of), stream);
      const auto n_tiles =
          to_device(std::vector<std::int32_t>{static_cast<std::int32_t>(tiles.size())}, stream);
      const Element element = type == Number16::fp16 ? Element::fp16 : Element::bf16;
      gpu::nn::AttentionArgs args;
      args.q = {qkv.data(), 3 * d, element};
      args.k = {qkv.data() + d, 3 * d, element};
      args.v = {qkv.data() + 2 * d, 3 * d, element};
      args.head_stride = args.head = 64;
      args.n_heads = n_heads;
      args.scale = 0.2f;
      args.out = {out.data(), d, element};
      args.log_sum_exp = sums.data();
      args.log_sum_exp_stride = static_cast<std::int64_t>(n_rows);
      args.tiles = tiles.data();
      args.n_tiles = n_tiles.data();
      args.n_rows = warpgroups ? static_cast<std::int64_t>(n_rows) : 0;
      if (warpgroups) {
        REQUIRE(gpu::nn::launch_attention_warpgroup(args, stream) == available);
      } else {
        gpu::nn::launch_attention(args, stream);
      }
      return std::pair(to_host(out, stream), to_host(sums, stream));
    };
    const auto got = run(starts, true);
    if (!available) continue;
    const auto expected = run(starts, false);
    std::vector<float> x, y;
    for (std::size_t i = 0; i < static_cast<std::size_t>(starts.back()) * d; ++i) {
      x.push_back(value_of(expected.first[i], type));
      y.push_back(value_of(got.first[i], type));
    }
    REQUIRE(difference(x, y) < 4 * tolerance(type));
    REQUIRE(difference(expected.second, got.second) < 1e-4);
    for (std::size_t i = x.size(); i < got.first.size(); ++i) REQUIRE(got.first[i] == 0xffff);
    // The eighth sequence, alone, gives the same bytes.
    const auto alone = run({starts[7], starts[8]}, true);
    for (auto i = static_cast<std::size_t>(starts[7]) * d;
         i < static_cast<std::size_t>(starts[8]) * d; ++i)
      REQUIRE(alone.first[i] == got.first[i]);
  }
}
