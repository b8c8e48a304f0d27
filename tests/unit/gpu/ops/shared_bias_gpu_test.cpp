// Attention of many batch rows with one bias: what its kernel is made of, on the host, and what it
// declines.
#include <set>
#include <utility>

#include "gpu/ops/attention/dot_product/shared_bias_layout.hpp"
#include "gpu/ops/attention/dot_product/shared_bias_warpgroup.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using gpu::ops::BiasLayout;
using gpu::ops::DotProductArgs;
using gpu::ops::Element;
using gpu::ops::SharedBiasRule;

TEST_CASE("ops.shared_bias: each number of a tile has one place") {
  std::set<int> places;
  std::set<std::pair<int, int>> numbers;
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 16; ++i) {
      const int at = BiasLayout::pair_at(thread, i);
      REQUIRE(at % 2 == 0);
      REQUIRE(at >= 0);
      REQUIRE(at < BiasLayout::kTile);
      places.insert(at);
      const int query = BiasLayout::query_of(thread, i), key = BiasLayout::key_of(thread, i);
      REQUIRE(query < BiasLayout::kSide);
      REQUIRE(key + 1 < BiasLayout::kSide);
      numbers.insert({query, key});
    }
  REQUIRE(places.size() == BiasLayout::kTile / 2);
  REQUIRE(numbers.size() == BiasLayout::kTile / 2);
  // As a lane of a warpgroup holds a product: row l / 4 and 8 further, columns 2 (l % 4) and next.
  REQUIRE(BiasLayout::query_of(37, 3) == 16 + 1 + 8);
  REQUIRE(BiasLayout::key_of(37, 3) == 8 + 2);
}

TEST_CASE("ops.shared_bias: tiles cover all queries and keys and lie apart") {
  for (const int n_queries : {1, 64, 127, 128, 129, 384})
    for (const int n_keys : {1, 63, 64, 65, 512}) {
      const BiasLayout layout = BiasLayout::of(n_queries, n_keys);
      REQUIRE(layout.n_pairs * 128 >= n_queries);
      REQUIRE((layout.n_pairs - 1) * 128 < n_queries);
      REQUIRE(layout.n_steps * 64 >= n_keys);
      REQUIRE((layout.n_steps - 1) * 64 < n_keys);
      std::int64_t expected = 0;
      for (int head = 0; head < 3; ++head)
        for (int pair = 0; pair < layout.n_pairs; ++pair)
          for (int step = 0; step < layout.n_steps; ++step, expected += 2 * BiasLayout::kTile)
            REQUIRE(layout.step_at(head, pair, step) == expected);
      REQUIRE(expected == 3 * layout.head_size());
    }
}

TEST_CASE("ops.shared_bias: which operands have a kernel of their own") {
  alignas(16) static std::uint16_t numbers[8] = {};
  const auto heads = [](std::int64_t row) {
    return gpu::ops::DotHeads{{numbers, row, Element::bf16}, row * 100, 32};
  };
  DotProductArgs args;
  for (gpu::ops::DotHeads* const x : {&args.q, &args.k, &args.v, &args.out}) *x = heads(128);
  args.n_batches = args.n_queries = args.n_keys = 100;
  args.n_heads = 4;
  args.head = args.head_v = 32;
  args.bias = {numbers, 1, Element::f32};
  REQUIRE(SharedBiasRule::suits(args));
  const auto suits = [&](const auto& set) {
    DotProductArgs changed = args;
    set(changed);
    return SharedBiasRule::suits(changed);
  };
  const auto transposed = [](gpu::ops::DotHeads& x) { std::swap(x.rows.stride, x.batch); };
  REQUIRE(suits([&](auto& a) {
    transposed(a.q);
    transposed(a.out);
  }));
  REQUIRE(suits([](auto& a) { a.n_queries = 99; }));
  REQUIRE(suits([](auto& a) { a.n_keys = 1000; }));
  REQUIRE(suits([](auto& a) { a.head = a.head_v = 64; }));
  REQUIRE(suits([](auto& a) {
    a.key_mask = numbers;
    a.masked = -1.4e9f;
  }));
  REQUIRE(suits([](auto& a) { a.heads_of_key = 4; }));

  REQUIRE(!suits([](auto& a) { a.q.rows.type = Element::f32; }));
  REQUIRE(!suits([](auto& a) { a.out.rows.type = Element::fp16; }));
  REQUIRE(!suits([](auto& a) { a.head_v = 72; }));
  REQUIRE(!suits([](auto& a) { a.soft_cap = 5; }));
  REQUIRE(!suits([](auto& a) { a.bias.data = nullptr; }));
  REQUIRE(!suits([](auto& a) { a.bias_batches = 2; }));
  REQUIRE(!suits([](auto& a) { a.bias_block = 16; }));
  REQUIRE(!suits([](auto& a) { a.n_batches = SharedBiasRule::kMinRows - 1; }));
  REQUIRE(!suits([](auto& a) { a.n_queries = 16; }));
  REQUIRE(!suits([](auto& a) { a.n_keys = 16; }));
  REQUIRE(!suits([](auto& a) { a.v.rows.stride = 132; }));
  REQUIRE(!suits([](auto& a) { a.k.rows.data = numbers + 1; }));
  REQUIRE(!suits([](auto& a) { a.q.batch = 0; }));
  static const std::int32_t length = 5;
  static float sums = 0;
  REQUIRE(!suits([](auto& a) { a.key_lengths = &length; }));
  REQUIRE(!suits([](auto& a) { a.log_sum_exp = &sums; }));
  REQUIRE(!suits([](auto& a) {
    a.key_mask = numbers;
    a.masked = 0.5f;
  }));
}
