#include "lib/ops/attention/attention.hpp"

#include <numeric>

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

// The largest size of a scaled score of one segment.
double largest_score(const Pair& qkv, std::int64_t n_heads, const tensor::Ragged& segments,
                     double scale) {
  const tensor::Tensor q = test::heads_of(qkv.host, 0, n_heads),
                       k = test::heads_of(qkv.host, 1, n_heads);
  double largest = 0;
  for (std::int64_t s = 0; s < segments.n_segments; ++s)
    for (std::int64_t i = segments.begin(s); i < segments.end(s); ++i)
      for (std::int64_t j = segments.begin(s); j < segments.end(s); ++j)
        for (std::int64_t head = 0; head < n_heads; ++head) {
          const float* const query = q.row<float>(i) + head * q.stride[1];
          const float* const key = k.row<float>(j) + head * k.stride[1];
          largest = std::max(
              largest, std::fabs(scale * std::inner_product(query, query + q.shape[2], key, 0.0)));
        }
  return largest;
}

void run(Bed& bed, const Pair& qkv, std::int64_t n_heads, float scale, const Pair* bias,
         const test::RaggedPair& segments, const Pair& out, const Pair* sums) {
  const auto op = [&](const auto& of, const tensor::Ragged& where) {
    return ops::Attention{test::heads_of(of(qkv), 0, n_heads),
                          test::heads_of(of(qkv), 1, n_heads),
                          test::heads_of(of(qkv), 2, n_heads),
                          scale,
                          bias == nullptr ? tensor::Tensor() : of(*bias),
                          &where,
                          of(out),
                          sums == nullptr ? tensor::Tensor() : of(*sums)};
  };
  ops::attention(bed.reference(), op([](const Pair& x) { return x.host; }, segments.host));
  ops::attention(bed.device(), op([](const Pair& x) { return x.device; }, segments.device));
}

}  // namespace

TEST_CASE("ops.attention: segments of any length, with and without a bias", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t h = GENERATE(16, 24, 32, 40, 64, 128), n_heads = 2, d = n_heads * h;
  const test::RaggedPair segments = bed.segments({1, 2, 16, 70, 33});
  const std::int64_t n = 122;
  const Pair qkv = bed.random({n, 3 * d}, 1.0f, true);
  const Pair out = bed.unset({n, d}, true), sums = bed.unset({n_heads, n}, false);
  const int which = GENERATE(0, 1, 2, 3);
  // Shared by the segments, of each, and shared by the heads.
  const Pair bias = bed.random({which == 1 ? 1 : 5, which == 3 ? 1 : n_heads, 70, 70}, 1.0f, true);
  run(bed, qkv, n_heads, 0.4f, which == 0 ? nullptr : &bias, segments, out, &sums);
  if (!bed.is_cpu()) {
    CHECK(bed.difference(out) < bed.operand_bound());
    CHECK(bed.difference(sums) < 1e-5);
    return;
  }
  // A weight is the exponential of a score, so a score's rounding becomes the weight's relative
  // error: one for the product, one for the difference to the row's largest score.
  const double size = largest_score(qkv, n_heads, segments.host, 0.4);
  CHECK(bed.roundings(sums) < 8);  // as large as a score
  CHECK(bed.roundings(out) < std::max(4.0, 2 * size));
}

TEST_CASE("ops.attention: masks that are the least number", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (bed.precision() == tensor::Precision::fp16) return;  // has no such number
  const std::int64_t n_heads = 2, d = 64, n = 21;
  const test::RaggedPair segments = bed.segments({21});
  const Pair qkv = bed.random({n, 3 * d}, 1.0f, true);
  // Of some queries every key but one, of the others every key.
  std::vector<float> masks(static_cast<std::size_t>(n * n));
  const float least = bed.is_cpu() ? std::numeric_limits<float>::lowest() : -3e38f;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (bed.is_cpu() ? i % 2 == 0 || j != 3 : j != 3)
        masks[static_cast<std::size_t>(i * n + j)] = least;
  const Pair bias = bed.pair({1, 1, n, n}, masks, true);
  const Pair out = bed.unset({n, d}, true);
  run(bed, qkv, n_heads, 0.4f, &bias, segments, out, nullptr);
  CHECK(bed.difference(out) < (bed.is_cpu() ? 1e-6 : bed.operand_bound()));
}

TEST_CASE("ops.attention: shared key heads, wider values, capped scores", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  struct Heads {
    std::int64_t h, h_v, n_heads, n_key_heads;
    float cap;
  };
  const Heads c = GENERATE(Heads{16, 24, 4, 2, 0}, Heads{128, 192, 3, 1, 5},  // AlphaGenome
                           Heads{192, 192, 4, 2, 0},                          // Flashzoi
                           Heads{64, 64, 2, 2, 2}, Heads{32, 16, 2, 1, 1});
  const bool with_bias = GENERATE(false, true);
  const test::RaggedPair segments = bed.segments({1, 70, 19});
  const std::int64_t n = 90, keys = c.n_heads * c.h, values = keys + c.n_key_heads * c.h;
  const Pair qkv = bed.random({n, values + c.n_key_heads * c.h_v}, 1.0f, true);
  const Pair out = bed.unset({n, c.n_heads * c.h_v}, true), sums = bed.unset({c.n_heads, n}, false);
  const Pair bias = bed.random({1, c.n_heads, 70, 70}, 1.0f, true);
  const float scale = 2 / std::sqrt(static_cast<float>(c.h));
  const auto op = [&](const auto& of, const tensor::Ragged& where) -> ops::Attention {
    const auto part = [&](std::int64_t begin, std::int64_t heads, std::int64_t width) {
      return tensor::split_heads(of(qkv).slice(1, begin, begin + heads * width), heads);
    };
    return {part(0, c.n_heads, c.h),
            part(keys, c.n_key_heads, c.h),
            part(values, c.n_key_heads, c.h_v),
            scale,
            with_bias ? of(bias) : tensor::Tensor(),
            &where,
            of(out),
            of(sums),
            c.cap};
  };
  ops::attention(bed.reference(), op([](const Pair& x) { return x.host; }, segments.host));
  ops::attention(bed.device(), op([](const Pair& x) { return x.device; }, segments.device));
  CHECK(bed.difference(out) < (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
  CHECK(bed.difference(sums) < 1e-5);
}

// Matrix cores cut off what they add to a sum, always towards zero, and fp16 has few digits of
// small weights: errors of every key would add up. On a card:
// BIOGPU_TEST_CONTEXTS=gpu BIOGPU_REQUIRE_GPU=1 ops_test "ops.attention: fp32*"
TEST_CASE("ops.attention: fp32 keeps its digits over many keys", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (bed.is_cpu() || bed.precision() != tensor::Precision::fp32) return;
  const std::int64_t n = 400, h = GENERATE(16, 128);
  const test::RaggedPair segments = bed.segments({static_cast<std::int32_t>(n)});
  Pair qkv = bed.random({n, 3 * h}, 1.0f, true);
  for (std::size_t i = 0; i < qkv.values.size(); ++i)  // values with a mean, which sums grow by
    if (i % static_cast<std::size_t>(3 * h) >= static_cast<std::size_t>(2 * h)) qkv.values[i] += 1;
  qkv = bed.pair({n, 3 * h}, qkv.values, true);
  const Pair out = bed.unset({n, h}, true);
  run(bed, qkv, 1, 1 / std::sqrt(static_cast<float>(h)), nullptr, segments, out, nullptr);
  CHECK(bed.difference(out) < 1.5e-6);
  CHECK(std::fabs(bed.bias(out)) < 3e-7);
}
