// Attention with AlphaGenome's heads on Hopper, beside sums in double precision on the host.
// Elsewhere it declines.
#include <algorithm>

#include "gpu/ops/attention/dot_product/dot_product_warpgroup.hpp"
#include "tests/unit/gpu/ops/warpgroup_support.hpp"

using namespace biogpu;
using gpu::Number16;
using test::to_device;
using test::to_host;

namespace {

constexpr int kHead = 128, kHeadV = 192;
constexpr float kScale = 0.1f, kCap = 5, kLog2E = 1.4426950408889634f;

struct Shape {
  int n_batches, n_queries, n_keys, n_key_heads, heads_of_key, bias_block;  // 0: no bias

  int n_heads() const { return n_key_heads * heads_of_key; }
  int q_width() const { return n_heads() * kHead + 8; }
  int kv_width() const { return n_key_heads * (kHead + kHeadV); }
  int n_blocks(int n) const { return bias_block == 0 ? 1 : (n + bias_block - 1) / bias_block; }
};

// One call: rows of queries with something behind their heads, keys and values in the same rows, a
// bias with its heads last.
class DotProduct {
 public:
  DotProduct(const Shape& shape, Number16 type, gpu::Stream& stream)
      : q(test::random_bits(rows(shape.n_queries, shape) * size_of(shape.q_width()), 1.5f, type,
                            1)),
        kv(test::random_bits(rows(shape.n_keys, shape) * size_of(shape.kv_width()), 1.5f, type, 2)),
        bias(test::random_values(size_of(shape.n_heads() * shape.n_blocks(shape.n_queries) *
                                         shape.n_blocks(shape.n_keys)),
                                 2, 3)),
        s_(shape),
        type_(type),
        stream_(stream) {}

  gpu::ops::DotProductArgs args() const {
    const auto element = test::element_of(type_);
    const auto heads = [&](std::int64_t width, std::int64_t n, std::int64_t head) {
      return gpu::ops::DotHeads{{nullptr, width, element}, n * width, head};
    };
    gpu::ops::DotProductArgs args;
    args.q = heads(s_.q_width(), s_.n_queries, kHead);
    args.k = heads(s_.kv_width(), s_.n_keys, kHead);
    args.v = heads(s_.kv_width(), s_.n_keys, kHeadV);
    args.out = heads(s_.n_heads() * kHeadV, s_.n_queries, kHeadV);
    args.n_batches = s_.n_batches;
    args.n_queries = s_.n_queries;
    args.n_keys = s_.n_keys;
    args.n_heads = s_.n_heads();
    args.heads_of_key = s_.heads_of_key;
    args.head = kHead;
    args.head_v = kHeadV;
    args.scale = kScale * kLog2E;
    args.soft_cap = kCap * kLog2E;
    args.sums_batch = std::int64_t{s_.n_heads()} * s_.n_queries;
    args.sums_head = s_.n_queries;
    if (s_.bias_block > 0) {
      args.bias_block = s_.bias_block;
      args.bias_stride[1] = 1;
      args.bias_stride[2] = std::int64_t{s_.n_blocks(s_.n_keys)} * s_.n_heads();
      args.bias_stride[3] = s_.n_heads();
    }
    return args;
  }

  void run() {
    const auto q_there = to_device(q, stream_), kv_there = to_device(kv, stream_);
    const auto bias_there = to_device(bias, stream_);
    auto out_there = to_device(
        std::vector<std::uint16_t>(rows(s_.n_queries, s_) * size_of(s_.n_heads() * kHeadV), 0xffff),
        stream_);
    auto sums_there =
        to_device(std::vector<float>(rows(s_.n_queries, s_) * size_of(s_.n_heads())), stream_);
    gpu::ops::DotProductArgs a = args();
    a.q.rows.data = const_cast<std::uint16_t*>(q_there.data());
    a.k.rows.data = const_cast<std::uint16_t*>(kv_there.data());
    a.v.rows.data = const_cast<std::uint16_t*>(kv_there.data()) + s_.n_key_heads * kHead;
    a.out.rows.data = out_there.data();
    if (s_.bias_block > 0)
      a.bias = {const_cast<float*>(bias_there.data()), 1, gpu::ops::Element::f32};
    a.log_sum_exp = sums_there.data();
    REQUIRE(gpu::ops::launch_dot_product_warpgroup(a, stream_) == gpu::has_warpgroups());
    out = to_host(out_there, stream_);
    sums = to_host(sums_there, stream_);
  }

  // The first, middle and last query of each head and batch row.
  void check_host() const {
    double worst = 0, worst_sum = 0;
    for (int b = 0; b < s_.n_batches; ++b)
      for (int head = 0; head < s_.n_heads(); ++head)
        for (const int query : {0, s_.n_queries / 2, s_.n_queries - 1}) {
          std::vector<double> row(kHeadV);
          const double log_sum_exp = attend(b, head, query, row);
          const float sum = sums[size_of((b * s_.n_heads() + head) * s_.n_queries + query)];
          worst_sum = test::worse(worst_sum, test::difference(log_sum_exp, double{sum}));
          for (int c = 0; c < kHeadV; ++c)
            worst = test::worse(
                worst, test::difference(row[size_of(c)], double{result(b, head, query, c)}));
        }
    REQUIRE(worst < 4 * test::tolerance(type_));
    REQUIRE(worst_sum < 1e-5);
  }
  float result(int b, int head, int query, int column) const {
    const auto row = size_of((b * s_.n_queries + query) * s_.n_heads() + head);
    return test::value_of(out[row * kHeadV + size_of(column)], type_);
  }

  std::vector<std::uint16_t> q, kv;
  std::vector<float> bias;
  std::vector<std::uint16_t> out;
  std::vector<float> sums;

 private:
  static std::size_t size_of(int n) { return static_cast<std::size_t>(n); }
  static std::size_t rows(int n, const Shape& shape) { return size_of(n * shape.n_batches); }

  // One query's sums of values; returns the logarithm of the sum of exponentials.
  double attend(int b, int head, int query, std::vector<double>& row) const {
    const int key_head = head / s_.heads_of_key;
    double total = 0;
    for (int key = 0; key < s_.n_keys; ++key) {
      const std::size_t at_q = size_of((b * s_.n_queries + query) * s_.q_width() + head * kHead);
      const std::size_t at_kv = size_of((b * s_.n_keys + key) * s_.kv_width());
      double score = 0;
      for (std::size_t c = 0; c < kHead; ++c)
        score += double{test::value_of(q[at_q + c], type_)} *
                 test::value_of(kv[at_kv + size_of(key_head) * kHead + c], type_);
      score *= kScale;
      if (s_.bias_block > 0)
        score += bias[size_of(
            (query / s_.bias_block * s_.n_blocks(s_.n_keys) + key / s_.bias_block) * s_.n_heads() +
            head)];
      const double weight = std::exp(kCap * std::tanh(score / kCap));
      total += weight;
      for (std::size_t c = 0; c < kHeadV; ++c)
        row[c] += weight *
                  test::value_of(
                      kv[at_kv + size_of(s_.n_key_heads) * kHead + size_of(key_head) * kHeadV + c],
                      type_);
    }
    for (double& x : row) x /= total;
    return std::log(total);
  }

  Shape s_;
  Number16 type_;
  gpu::Stream& stream_;
};

}  // namespace

TEST_CASE("ops.warpgroup: attention with a cap equals that of the host", "[ops][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  // One step and as many as the ring has stages and more, pieces in odd numbers, queries beyond the
  // last tile, blocks of a bias that are wider than a step.
  const Shape s = GENERATE(Shape{1, 64, 64, 1, 2, 16}, Shape{2, 128, 128, 1, 3, 0},
                           Shape{2, 100, 320, 2, 1, 16}, Shape{1, 192, 192, 1, 1, 128});
  CAPTURE(s.n_batches, s.n_queries, s.n_keys, s.n_heads(), s.n_key_heads, s.bias_block);
  for (const Number16 type : {Number16::fp16, Number16::bf16}) {
    DotProduct attention(s, type, stream);
    attention.run();
    if (gpu::has_warpgroups()) attention.check_host();
  }
}

TEST_CASE("ops.warpgroup: attention with a cap keeps NaN and bounds what is infinite",
          "[ops][device]") {
  if (!test::has_gpu() || !gpu::has_warpgroups()) return;
  gpu::Stream stream;
  const Shape s = {1, 64, 128, 1, 2, 16};
  DotProduct attention(s, Number16::fp16, stream);
  attention.q[0] = 0xffff;  // head 0 of query 0
  // Head 1: the second block of keys of the first block of queries, and the third one.
  attention.bias[3] = -std::numeric_limits<float>::infinity();
  attention.bias[5] = std::numeric_limits<float>::infinity();
  attention.run();
  REQUIRE(std::isnan(attention.result(0, 0, 0, 7)));
  REQUIRE(std::isnan(attention.sums[0]));
  for (int query = 0; query < s.n_queries; ++query)
    REQUIRE(std::isnan(attention.result(0, 0, query, 7)) == (query == 0));
  attention.q[0] = 0;
  attention.run();
  attention.check_host();
  attention.kv[70 * static_cast<std::size_t>(s.kv_width())] = 0x7e00;  // a key
  attention.run();
  for (int query = 0; query < s.n_queries; ++query)
    REQUIRE(std::isnan(attention.result(0, 1, query, 100)));
}

TEST_CASE("ops.warpgroup: attention with a cap declines what it does not compute",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const DotProduct attention({2, 64, 64, 1, 2, 16}, Number16::fp16, stream);
  const auto declines = [&](const auto& set) {
    gpu::ops::DotProductArgs a = attention.args();
    set(a);
    return !gpu::ops::launch_dot_product_warpgroup(a, stream);
  };
  const std::int32_t length = 64;
  REQUIRE(declines([](auto& a) { a.n_keys = 65; }));
  REQUIRE(declines([](auto& a) { a.head = 120; }));
  REQUIRE(declines([](auto& a) { a.head_v = 128; }));
  REQUIRE(declines([](auto& a) { a.soft_cap = 0; }));
  REQUIRE(declines([](auto& a) { a.soft_cap = 15; }));
  REQUIRE(declines([](auto& a) { a.q.batch += a.q.rows.stride; }));
  REQUIRE(declines([](auto& a) { a.v.rows.stride += 4; }));
  REQUIRE(declines([](auto& a) { a.out.rows.type = gpu::ops::Element::f32; }));
  REQUIRE(declines([&](auto& a) { a.key_lengths = &length; }));
  REQUIRE(declines([&](auto& a) { a.key_mask = &length; }));
  REQUIRE(declines([&](auto& a) {
    a.bias.data = const_cast<std::int32_t*>(&length);
    a.bias_block = 8;
  }));
}
