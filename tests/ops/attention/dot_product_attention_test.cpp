#include "lib/ops/attention/dot_product_attention.hpp"

#include <cstring>
#include <utility>

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Axes of q, k and v.
struct DotShape {
  std::int64_t b, n_queries, n_keys, n_heads, n_key_heads, h, h_v;
};

// Bytes of both contexts.
struct ByteMask {
  std::vector<std::uint8_t> values;
  Tensor host, device;
};

ByteMask byte_mask(Bed& bed, std::int64_t n_rows, std::int64_t n_keys,
                   std::vector<std::uint8_t> values) {
  ByteMask made;
  made.values = std::move(values);
  made.host = Tensor(made.values.data(), tensor::DType::u8, {n_rows, n_keys});
  made.device =
      Tensor(bed.device().allocate(made.host.bytes()), tensor::DType::u8, {n_rows, n_keys});
  bed.device().copy_in(made.device, made.values.data());
  return made;
}

// Operands of one call on both contexts.
struct DotOperands {
  DotOperands(Bed& bed, const DotShape& s)
      : q(bed.random({s.b, s.n_queries, s.n_heads, s.h}, 1, true)),
        k(bed.random({s.b, s.n_keys, s.n_key_heads, s.h}, 1, true)),
        v(bed.random({s.b, s.n_keys, s.n_key_heads, s.h_v}, 1, true)),
        out(bed.unset({s.b, s.n_queries, s.n_heads, s.h_v}, true)),
        sums(bed.unset({s.b, s.n_heads, s.n_queries}, false)),
        scale(1.5f / std::sqrt(static_cast<float>(s.h))) {}

  template <class Of>
  ops::DotProductAttention op(const Of& of) const {
    ops::DotProductAttention made;
    made.q = of(q);
    made.k = of(k);
    made.v = of(v);
    made.scale = scale;
    made.out = of(out);
    made.log_sum_exp = of(sums);
    return made;
  }

  Pair q, k, v, out, sums;
  float scale;
};

// Logarithms of sums: minus infinity where it is right, else within a bound.
void check_sums(Bed& bed, const Pair& sums) {
  const std::vector<float> got = bed.fetch(sums.device);
  double apart = 0, largest = 1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(sums.values[i])) {
      CHECK(got[i] == sums.values[i]);
      continue;
    }
    largest = std::max(largest, std::fabs(static_cast<double>(sums.values[i])));
    apart = test::worse_of(apart, std::fabs(static_cast<double>(got[i]) - sums.values[i]));
  }
  CHECK(apart < 1e-5 * largest);
}

// set(op, of) adds to the operation what the test is about.
template <class Set>
void compare(Bed& bed, const DotOperands& operands, const Set& set) {
  const auto run = [&](tensor::Context& context, const auto& of) {
    ops::DotProductAttention op = operands.op(of);
    set(op, of);
    ops::dot_product_attention(context, op);
  };
  run(bed.reference(), [](const auto& x) { return x.host; });
  run(bed.device(), [](const auto& x) { return x.device; });
  if (operands.out.values.empty()) return;
  if (std::any_of(operands.out.values.begin(), operands.out.values.end(),
                  [](float x) { return x != 0; })) {
    CHECK(bed.difference(operands.out) < (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
  } else {
    CHECK(bed.fetch(operands.out.device) == operands.out.values);
  }
  check_sums(bed, operands.sums);
}

constexpr auto kNothing = [](ops::DotProductAttention&, const auto&) {};

Tensor swapped(Tensor x, std::size_t axis, std::size_t other) {
  std::swap(x.shape[axis], x.shape[other]);
  std::swap(x.stride[axis], x.stride[other]);
  return x;
}

}  // namespace

TEST_CASE("ops.dot_product_attention: any number of queries and keys", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::vector<std::int64_t> lengths{0, 1, 2, 15, 16, 17, 33, 65, 130};
  for (const std::int64_t n_queries : lengths)
    for (const std::int64_t n_keys : lengths) {
      // Operands of 16 bits take the same way, and emulated kernels take long.
      if (!bed.is_cpu() && bed.precision() != tensor::Precision::fp32 && n_queries + n_keys > 70)
        continue;
      CAPTURE(n_queries, n_keys);
      compare(bed, DotOperands(bed, {2, n_queries, n_keys, 2, 2, 24, 24}), kNothing);
    }
}

TEST_CASE("ops.dot_product_attention: heads of any size, shared key heads", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const DotShape s =
      GENERATE(DotShape{2, 33, 70, 4, 2, 24, 24}, DotShape{1, 33, 70, 2, 2, 32, 32},
               DotShape{2, 33, 70, 2, 1, 48, 40}, DotShape{1, 70, 70, 3, 3, 64, 64},
               DotShape{1, 70, 70, 2, 1, 128, 192}, DotShape{1, 17, 70, 2, 2, 192, 64},
               DotShape{1, 130, 150, 6, 2, 7, 12}, DotShape{1, 5, 40, 4, 1, 192, 192});
  CAPTURE(s.h, s.h_v, s.n_heads, s.n_key_heads);
  compare(bed, DotOperands(bed, s), kNothing);
}

TEST_CASE("ops.dot_product_attention: biases of any shape and distance", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t b = 4, n_queries = 37, n_keys = 70, n_heads = 2;
  const bool operand = GENERATE(true, false);
  const DotOperands operands(bed, {b, n_queries, n_keys, n_heads, 2, 16, 16});
  struct BiasShape {
    std::int64_t b, n_heads, n_queries, n_keys;
  };
  const BiasShape s = GENERATE_COPY(
      BiasShape{1, n_heads, n_queries, n_keys}, BiasShape{b, 1, n_queries, n_keys},
      BiasShape{2, n_heads, n_queries, n_keys}, BiasShape{b, n_heads, 1, n_keys},
      BiasShape{1, n_heads, n_queries, 1}, BiasShape{1, 1, 1, 1}, BiasShape{b, 1, 1, n_keys});
  CAPTURE(s.b, s.n_heads, s.n_queries, s.n_keys);
  {
    const Pair bias = bed.random({s.b, s.n_heads, s.n_queries, s.n_keys}, 1, operand);
    compare(bed, operands, [&](auto& op, const auto& of) { op.bias = of(bias); });
  }
  {  // heads last, as a product over a pair tensor writes them, and its transpose
    const Pair bias = bed.random({s.b, s.n_queries, s.n_keys, s.n_heads}, 1, operand);
    compare(bed, operands,
            [&](auto& op, const auto& of) { op.bias = swapped(swapped(of(bias), 1, 3), 2, 3); });
    const Pair turned = bed.random({s.b, s.n_keys, s.n_queries, s.n_heads}, 1, operand);
    compare(bed, operands, [&](auto& op, const auto& of) { op.bias = swapped(of(turned), 1, 3); });
  }
}

TEST_CASE("ops.dot_product_attention: a bias in blocks", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t block = GENERATE(3, 16, 32, 100), n_queries = GENERATE(16, 37),
                     n_keys = GENERATE(32, 75);
  CAPTURE(block, n_queries, n_keys);
  const DotOperands operands(bed, {2, n_queries, n_keys, 4, 1, 16, 24});
  const Pair bias =
      bed.random({1, 4, (n_queries + block - 1) / block, (n_keys + block - 1) / block}, 2, true);
  const float cap = GENERATE(0.0f, 5.0f);
  compare(bed, operands, [&](auto& op, const auto& of) {
    op.bias = of(bias);
    op.bias_block = block;
    op.soft_cap = cap;
  });
}

// On Hopper in 16 bits these have a kernel of their own; under emulation ops_gpu_test_shared runs
// it.
TEST_CASE("ops.dot_product_attention: keys of 128, values of 192 and a cap", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  struct Case {
    std::int64_t b, n_queries, n_keys, n_heads, n_key_heads, block;
  };
  const Case s = GENERATE(Case{1, 64, 64, 2, 1, 16}, Case{3, 128, 128, 2, 1, 0},
                          Case{2, 192, 192, 2, 2, 16}, Case{1, 100, 320, 3, 1, 32});
  CAPTURE(s.b, s.n_queries, s.n_keys, s.n_heads, s.n_key_heads, s.block);
  const DotOperands operands(bed, {s.b, s.n_queries, s.n_keys, s.n_heads, s.n_key_heads, 128, 192});
  const std::int64_t block = std::max<std::int64_t>(1, s.block);
  const Pair bias = bed.random(
      {1, s.n_heads, (s.n_queries + block - 1) / block, (s.n_keys + block - 1) / block}, 2, false);
  compare(bed, operands, [&](auto& op, const auto& of) {
    op.soft_cap = 5;
    if (s.block > 0) op.bias = of(bias);
    op.bias_block = block;
  });
}

// On Hopper in 16 bits these have a kernel of their own; under emulation ops_gpu_test_shared runs
// it.
TEST_CASE("ops.dot_product_attention: many rows with one bias", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  struct Case {
    std::int64_t b, n_queries, n_keys, n_heads, n_key_heads, h, h_v;
    float scale;  // of logits: large ones leave the range of weights in 16 bits
  };
  const Case s = GENERATE(Case{48, 48, 70, 1, 1, 32, 32, 1}, Case{49, 130, 64, 2, 1, 24, 32, 1},
                          Case{48, 65, 129, 1, 1, 64, 40, 1}, Case{48, 50, 50, 2, 2, 16, 16, 60});
  enum class Mask : std::uint8_t { none, padded, any };
  const Mask kind = GENERATE(Mask::none, Mask::padded, Mask::any);
  CAPTURE(s.b, s.n_queries, s.n_keys, s.n_heads, s.h, s.h_v, s.scale, static_cast<int>(kind));
  DotOperands operands(bed, {s.b, s.n_queries, s.n_keys, s.n_heads, s.n_key_heads, s.h, s.h_v});
  operands.scale *= s.scale;
  const bool by_columns = kind == Mask::padded;
  const Pair bias = bed.random(
      {1, by_columns ? s.n_keys : s.n_queries, by_columns ? s.n_queries : s.n_keys, s.n_heads}, 1,
      kind == Mask::any);
  // Row 1 has no key; the others end somewhere, or have keys here and there.
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(s.b * s.n_keys));
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t j = 0; j < s.n_keys; ++j)
      bytes[static_cast<std::size_t>(b * s.n_keys + j)] =
          b != 1 && (kind == Mask::padded ? j < s.n_keys - b % 40 : (b * 7 + j * 5) % 11 > 3);
  const ByteMask mask = byte_mask(bed, s.b, s.n_keys, bytes);
  const auto run = [&](tensor::Context& context, const auto& of) {
    ops::DotProductAttention op = operands.op(of);
    op.log_sum_exp = {};
    op.bias = swapped(of(bias), 1, 3);
    if (!by_columns) op.bias = swapped(op.bias, 2, 3);
    op.masked_value = kind == Mask::any ? -kInfinity : -1e9f;
    if (kind != Mask::none) op.key_mask = of(mask);
    ops::dot_product_attention(context, op);
  };
  run(bed.reference(), [](const auto& x) { return x.host; });
  run(bed.device(), [](const auto& x) { return x.device; });
  // The largest of so many numbers is further off than that of a small case; logits of some hundred
  // have fewer digits left in fp32.
  const bool is_half = !bed.is_cpu() && bed.precision() != tensor::Precision::fp32;
  const double factor = s.scale > 1 && !is_half ? 8 : 2;
  CHECK(bed.difference(operands.out) < factor * (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
}

// fp16 weighs against the first keys; where these are masked, weights of the others may be small.
TEST_CASE("ops.dot_product_attention: many rows with one bias and no first keys", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  constexpr std::int64_t kRows = 48, kQueries = 50, kKeys = 129, kMasked = 64;
  const float last_bias = GENERATE(-16.0f, 3.0f);
  const DotOperands operands(bed, {kRows, kQueries, kKeys, 1, 1, 32, 32});
  std::vector<float> numbers(kQueries * kKeys);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int64_t>(i) % kKeys < kMasked ? 0 : last_bias;
  const Pair bias = bed.pair({1, 1, kQueries, kKeys}, std::move(numbers), false);
  std::vector<std::uint8_t> bytes(kRows * kKeys);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::int64_t>(i) % kKeys >= kMasked;
  const ByteMask mask = byte_mask(bed, kRows, kKeys, bytes);
  const auto run = [&](tensor::Context& context, const auto& of) {
    ops::DotProductAttention op = operands.op(of);
    op.log_sum_exp = {};
    op.bias = of(bias);
    op.masked_value = -1e9f;
    op.key_mask = of(mask);
    ops::dot_product_attention(context, op);
  };
  run(bed.reference(), [](const auto& x) { return x.host; });
  run(bed.device(), [](const auto& x) { return x.device; });
  CHECK(bed.difference(operands.out) < 2 * (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
}

TEST_CASE("ops.dot_product_attention: masked keys and key lengths", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t b = 5, n_queries = 18, n_keys = 70;
  const DotOperands operands(bed, {b, n_queries, n_keys, 2, 2, 8, 16});
  // Row 0 has all keys, row 1 none, row 2 every third, row 3 one far behind, row 4 none behind 64.
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(b * n_keys));
  for (std::int64_t j = 0; j < n_keys; ++j) {
    const bool kept[] = {true, false, j % 3 == 0, j == 67, j < 64};
    for (std::int64_t row = 0; row < b; ++row)
      bytes[static_cast<std::size_t>(row * n_keys + j)] = kept[row] ? 200 : 0;
  }
  const std::vector<float> numbers(bytes.begin(), bytes.end());
  const ByteMask mask = byte_mask(bed, b, n_keys, bytes);
  const Pair real = bed.pair({b, n_keys}, numbers, false);
  const test::Indices lengths = bed.indices({70, 0, 1, 65, 68});
  const float masked_value = GENERATE(-1e9f, -kInfinity, -std::numeric_limits<float>::max(), 0.5f);
  const bool has_lengths = GENERATE(false, true);
  const float cap = GENERATE(0.0f, 2.0f);
  CAPTURE(masked_value, has_lengths, cap);
  const auto common = [&](auto& op, const auto& of) {
    if (has_lengths) op.key_lengths = of(lengths);
    op.masked_value = masked_value;
    op.soft_cap = cap;
  };
  compare(bed, operands, [&](auto& op, const auto& of) {
    common(op, of);
    op.key_mask = of(mask);
  });
  compare(bed, operands, [&](auto& op, const auto& of) {
    common(op, of);
    op.key_mask = of(real);
  });
  compare(bed, operands, [&](auto& op, const auto& of) {  // one row for all
    common(op, of);
    op.key_mask = of(mask).slice(0, 3, 4);
  });
}

TEST_CASE("ops.dot_product_attention: a mask by columns", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t b = 3, n_keys = 20;
  const DotOperands operands(bed, {b, 9, n_keys, 2, 2, 8, 8});
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(b * n_keys));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i * 7 % 5 != 0;
  const ByteMask mask = byte_mask(bed, n_keys, b, bytes);
  compare(bed, operands, [&](auto& op, const auto& of) { op.key_mask = swapped(of(mask), 0, 1); });
}

TEST_CASE("ops.dot_product_attention: minus infinity and the least number in a bias", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_queries = 20, n_keys = 37;
  const DotOperands operands(bed, {1, n_queries, n_keys, 2, 2, 8, 8});
  const float low = GENERATE(-kInfinity, -3.3e38f, -1e9f);
  std::vector<float> values(static_cast<std::size_t>(n_queries * n_keys));
  // Some queries have every key masked but one, others every key; the rest have all. With -1e9 for
  // every key the last digits of the sums decide, which the reference has more of.
  for (std::int64_t i = 0; i < n_queries; ++i)
    for (std::int64_t j = 0; j < n_keys; ++j)
      if ((i % 3 == 0 && low < -1e9f) || (i % 3 == 1 && j != 35))
        values[static_cast<std::size_t>(i * n_keys + j)] = low;
  const Pair bias = bed.pair({1, 1, n_queries, n_keys}, values, false);
  compare(bed, operands, [&](auto& op, const auto& of) { op.bias = of(bias); });
}

TEST_CASE("ops.dot_product_attention: rows and columns of a pair tensor", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n = 19, n_heads = 2, h = GENERATE(8, 6), d = n_heads * h;
  const Pair qkv = bed.random({n, n, 3, d}, 1, true), bias = bed.random({n, n, n_heads}, 1, true);
  const bool columns = GENERATE(false, true);
  const Pair out = bed.unset({n, n, n_heads, h}, true);
  const auto run = [&](tensor::Context& context, const auto& of) {
    const auto view = [&](Tensor x, std::int64_t part) {
      x.rank = 4;
      x = x.slice(2, part, part + 1);
      x.shape = {n, n, n_heads, h};
      x.stride = {x.stride[0], x.stride[1], h, 1};
      return columns ? swapped(x, 0, 1) : x;
    };
    ops::DotProductAttention op;
    op.q = view(of(qkv), 0);
    op.k = view(of(qkv), 1);
    op.v = view(of(qkv), 2);
    op.scale = 0.4f;
    op.bias = of(bias);  // [J, K, H] as [1, H, J, K]
    op.bias.rank = 4;
    op.bias.shape = {1, n_heads, n, n};
    op.bias.stride = {0, 1, n * n_heads, n_heads};
    if (columns) op.bias = swapped(op.bias, 2, 3);
    op.out = columns ? swapped(of(out), 0, 1) : of(out);
    ops::dot_product_attention(context, op);
  };
  run(bed.reference(), [](const auto& x) { return x.host; });
  run(bed.device(), [](const auto& x) { return x.device; });
  CHECK(bed.difference(out) < (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
}

TEST_CASE("ops.dot_product_attention: a row alone has the bytes it has in a batch", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t b = 3, n_queries = 40, n_keys = 37;
  const DotOperands operands(bed, {b, n_queries, n_keys, 2, 1, 16, 16});
  const Pair bias = bed.random({1, 2, n_queries, n_keys}, 1, true);
  ops::DotProductAttention op = operands.op([](const Pair& x) { return x.device; });
  op.bias = bias.device;
  ops::dot_product_attention(bed.device(), op);
  const std::vector<float> whole = bed.fetch(op.out);
  const std::size_t size = whole.size() / static_cast<std::size_t>(b);
  for (std::int64_t row = 0; row < b; ++row) {
    ops::DotProductAttention one = op;
    one.log_sum_exp = {};
    for (Tensor* x : {&one.q, &one.k, &one.v, &one.out}) *x = x->slice(0, row, row + 1);
    ops::dot_product_attention(bed.device(), one);
    const std::vector<float> got = bed.fetch(one.out);
    CHECK(std::memcmp(got.data(), whole.data() + static_cast<std::size_t>(row) * size,
                      size * sizeof(float)) == 0);
  }
}

TEST_CASE("ops.dot_product_attention: the same bytes with one thread and two", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (!bed.is_cpu()) return;
  const DotOperands operands(bed, {2, 300, 50, 2, 1, 9, 20});
  ops::DotProductAttention op = operands.op([](const Pair& x) { return x.device; });
  ops::dot_product_attention(bed.device(), op);
  const std::vector<float> two = bed.fetch(op.out);
  ops::dot_product_attention(*ops::make_cpu_context(1), op);
  CHECK(bed.fetch(op.out) == two);
}

// As attention's test of the same name: on a card,
// BIOGPU_TEST_CONTEXTS=gpu BIOGPU_REQUIRE_GPU=1 ops_test "ops.dot_product_attention: fp32*"
TEST_CASE("ops.dot_product_attention: fp32 keeps its digits over many keys", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (bed.is_cpu() || bed.precision() != tensor::Precision::fp32) return;
  const std::int64_t n = 400, h = GENERATE(16, 128);
  DotOperands operands(bed, {1, 64, n, 1, 1, h, h});
  for (float& x : operands.v.values) x += 1;  // values with a mean, which sums grow by
  operands.v = bed.pair({1, n, 1, h}, operands.v.values, true);
  operands.scale = 1 / std::sqrt(static_cast<float>(h));
  ops::dot_product_attention(bed.reference(), operands.op([](const Pair& x) { return x.host; }));
  ops::dot_product_attention(bed.device(), operands.op([](const Pair& x) { return x.device; }));
  CHECK(bed.difference(operands.out) < 1.5e-6);
  CHECK(std::fabs(bed.bias(operands.out)) < 3e-7);
}

TEST_CASE("ops.dot_product_attention: shapes that do not fit are refused", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const DotOperands operands(bed, {4, 5, 6, 4, 2, 8, 8});
  ops::DotProductAttention op = operands.op([](const Pair& x) { return x.device; });
  const Pair bias = bed.random({3, 4, 5, 6}, 1, true), few = bed.random({1, 2, 5, 6}, 1, true);
  const test::Indices lengths = bed.indices({1, 2, 3});
  const auto refused = [&](const auto& set) {
    ops::DotProductAttention wrong = op;
    set(wrong);
    CHECK_THROWS_AS(ops::dot_product_attention(bed.device(), wrong), Error);
  };
  refused([&](auto& wrong) { wrong.bias = bias.device; });
  refused([&](auto& wrong) { wrong.bias = few.device; });
  refused([&](auto& wrong) { wrong.key_lengths = lengths.device; });
  refused([&](auto& wrong) { wrong.q = op.q.slice(2, 0, 3); });
  refused([&](auto& wrong) { wrong.k = op.k.slice(1, 0, 5); });
  refused([&](auto& wrong) { wrong.out = op.out.slice(3, 0, 7); });
  refused([&](auto& wrong) { wrong.key_mask = bias.device; });
  const Pair logs = bed.unset({4, 4, 10}, false), right_bias = bed.random({2, 4, 5, 6}, 1, false);
  refused([&](auto& wrong) {
    wrong.log_sum_exp = logs.device.slice(2, 0, 5);
    wrong.log_sum_exp.stride[2] = 2;
  });
  refused([&](auto& wrong) {  // neither f32 nor an operand
    wrong.bias = right_bias.device;
    wrong.bias.dtype =
        bed.precision() == test::Precision::fp16 ? tensor::DType::bf16 : tensor::DType::f16;
  });
  const auto host = operands.op([](const Pair& x) { return x.host; });
  for (const auto type : {tensor::DType::f16, tensor::DType::bf16}) {
    ops::DotProductAttention wrong = host;
    for (Tensor* const x : {&wrong.q, &wrong.k, &wrong.v, &wrong.out}) x->dtype = type;
    CHECK_THROWS_AS(ops::dot_product_attention(bed.reference(), wrong), Error);
    if (bed.is_cpu()) CHECK_THROWS_AS(ops::dot_product_attention(bed.device(), wrong), Error);
  }
}

TEST_CASE("ops.dot_product_attention: key lengths beyond the keys are all keys", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const DotOperands operands(bed, {3, 5, 6, 4, 2, 8, 8});
  ops::DotProductAttention op = operands.op([](const Pair& x) { return x.device; });
  ops::dot_product_attention(bed.device(), op);
  const std::vector<float> all = bed.fetch(operands.out.device);
  const test::Indices lengths = bed.indices({7, 6, 1000000});
  op.key_lengths = lengths.device;
  ops::dot_product_attention(bed.device(), op);
  CHECK(bed.fetch(operands.out.device) == all);
}
