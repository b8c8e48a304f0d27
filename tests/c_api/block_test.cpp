#include <cstdlib>
#include <limits>

#include "tests/c_api/block_support.hpp"

using namespace biogpu;
using test::array_of;
using test::Doubles;
using test::Numbers;

namespace {

constexpr std::int64_t kTokens = 5, kSeen = 4, kWidth = 12, kProduct = 7, kHeads = 3, kHead = 5;
constexpr std::int64_t kBatches = 2, kPairs = kTokens * kTokens * kWidth;

// Pairs and masks of two batches, each with another mask.
struct Inputs {
  Numbers pairs, mask;
  Inputs() : pairs(test::RandomNumbers(3).take(kBatches * kPairs, 2)) {
    for (const std::int64_t n_seen : {kSeen, kTokens}) {
      const Numbers one = test::padded_mask(kTokens, n_seen);
      mask.insert(mask.end(), one.begin(), one.end());
    }
  }
  test::BlockCall call(Numbers& out, bool has_mask) const {
    test::BlockCall call;
    call.input("pairs") = array_of(pairs.data(), {kBatches, kTokens, kTokens, kWidth});
    if (has_mask) call.input("mask") = array_of(mask.data(), {kBatches, kTokens, kTokens});
    call.out = array_of(out.data(), {kBatches, kTokens, kTokens, kWidth});
    return call;
  }
};

struct Kind {
  const char* name;
  bool is_attention, is_second;
};
constexpr Kind kKinds[] = {{"triangle-product-out", false, false},
                           {"triangle-product-in", false, true},
                           {"triangle-attention-start", true, false},
                           {"triangle-attention-end", true, true}};

test::BlockWeights weights_of(const Kind& kind, bool has_bias) {
  return kind.is_attention ? test::attention_weights(11, kWidth, kHeads, kHead, has_bias)
                           : test::product_weights(12, kWidth, kProduct, has_bias);
}

Doubles expected(const Kind& kind, const test::BlockWeights& weights, const Inputs& inputs,
                 bool has_mask, bool adds_pairs) {
  Doubles all;
  for (std::int64_t b = 0; b < kBatches; ++b) {
    const float* const z = inputs.pairs.data() + b * kPairs;
    const float* const mask = has_mask ? inputs.mask.data() + b * kTokens * kTokens : nullptr;
    const Doubles one =
        kind.is_attention
            ? test::expected_attention(weights, z, mask, kTokens, kWidth, kHeads, kind.is_second)
            : test::expected_product(weights, z, mask, kTokens, kWidth, !kind.is_second);
    all.insert(all.end(), one.begin(), one.end());
  }
  if (adds_pairs)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += inputs.pairs[i];
  return all;
}

}  // namespace

TEST_CASE("c_api.block: blocks of pairs equal double precision", "[c_api]") {
  CHECK(biogpu_block_version() == BIOGPU_BLOCK_VERSION);
  const Inputs inputs;
  const auto fast = test::open_blocks("cpu", "auto"), exact = test::open_blocks("cpu", "fp64");
  for (const Kind& kind : kKinds)
    for (const bool has_bias : {false, true}) {
      const test::BlockWeights weights = weights_of(kind, has_bias);
      for (const auto* const context : {&fast, &exact}) {
        const auto block = test::make_block(*context, kind.name, weights);
        for (const bool has_mask : {false, true})
          for (const bool adds_pairs : {false, true}) {
            CAPTURE(kind.name, has_bias, context == &fast, has_mask, adds_pairs);
            Numbers out(inputs.pairs.size());
            test::BlockCall call = inputs.call(out, has_mask);
            call.add = adds_pairs ? 1 : 0;
            REQUIRE(call.run(block) == 0);
            const Doubles right = expected(kind, weights, inputs, has_mask, adds_pairs);
            CHECK(test::differences(out, right).first < 1e-5);
          }
      }
    }
}

TEST_CASE("c_api.block: strided arrays, in place, and without an axis of batches", "[c_api]") {
  const Inputs inputs;
  const auto context = test::open_blocks("cpu", "fp32");
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    const auto block = test::make_block(context, kind.name, weights_of(kind, true));
    Numbers plain(inputs.pairs.size());
    test::BlockCall call = inputs.call(plain, true);
    REQUIRE(call.run(block) == 0);

    // Pairs and mask as [N, N, c, B] and [N, N, B] in memory, results with a gap behind each row.
    Numbers turned(inputs.pairs.size()), turned_mask(inputs.mask.size());
    for (std::size_t b = 0; b < kBatches; ++b) {
      for (std::size_t i = 0; i < kPairs; ++i)
        turned[i * kBatches + b] = inputs.pairs[b * kPairs + i];
      for (std::size_t i = 0; i < kTokens * kTokens; ++i)
        turned_mask[i * kBatches + b] = inputs.mask[b * kTokens * kTokens + i];
    }
    constexpr std::int64_t kPitch = kWidth + 3;
    for (const bool adds_pairs : {false, true}) {
      Numbers wide(kBatches * kTokens * kTokens * kPitch, -7);
      test::BlockCall strided;
      strided.input("pairs") = test::permuted_array(
          array_of(turned.data(), {kTokens, kTokens, kWidth, kBatches}), {3, 0, 1, 2});
      strided.input("mask") = test::permuted_array(
          array_of(turned_mask.data(), {kTokens, kTokens, kBatches}), {2, 0, 1});
      strided.out = array_of(wide.data(), {kBatches, kTokens, kTokens, kPitch});
      strided.out.shape[3] = kWidth;
      strided.add = adds_pairs ? 1 : 0;
      REQUIRE(strided.run(block) == 0);
      for (std::size_t row = 0; row < kBatches * kTokens * kTokens; ++row) {
        for (std::size_t i = 0; i < kWidth; ++i) {
          const std::size_t at = row * kWidth + i;
          const float right = plain[at] + (adds_pairs ? inputs.pairs[at] : 0);
          CHECK(wide[row * kPitch + i] == Approx(right).margin(1e-6));
        }
        CHECK(wide[row * kPitch + kWidth] == -7);
      }
    }

    // The second batch alone, added to its own memory.
    Numbers own(inputs.pairs.begin() + kPairs, inputs.pairs.end());
    test::BlockCall in_place;
    in_place.input("pairs") = in_place.out = array_of(own.data(), {kTokens, kTokens, kWidth});
    in_place.input("mask") = array_of(inputs.mask.data() + kTokens * kTokens, {kTokens, kTokens});
    in_place.add = 1;
    REQUIRE(in_place.run(block) == 0);
    for (std::size_t i = 0; i < kPairs; ++i)
      CHECK(own[i] == Approx(plain[kPairs + i] + inputs.pairs[kPairs + i]).margin(1e-6));
  }
}

TEST_CASE("c_api.block: padding changes no token", "[c_api]") {
  const Inputs inputs;
  const auto context = test::open_blocks("cpu", "fp32");
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    const auto block = test::make_block(context, kind.name, weights_of(kind, false));
    const Numbers ones(kSeen * kSeen, 1.0f);
    Numbers mask(kTokens * kTokens), whole(kPairs), part(kSeen * kSeen * kWidth), cut;
    for (std::size_t i = 0; i < kSeen; ++i)
      for (std::size_t j = 0; j < kSeen; ++j) {
        mask[i * kTokens + j] = 1;
        const auto row =
            inputs.pairs.begin() + static_cast<std::ptrdiff_t>(i * kTokens + j) * kWidth;
        cut.insert(cut.end(), row, row + kWidth);
      }
    test::BlockCall call;
    call.input("pairs") = array_of(inputs.pairs.data(), {kTokens, kTokens, kWidth});
    call.input("mask") = array_of(mask.data(), {kTokens, kTokens});
    call.out = array_of(whole.data(), {kTokens, kTokens, kWidth});
    REQUIRE(call.run(block) == 0);
    call.input("pairs") = array_of(cut.data(), {kSeen, kSeen, kWidth});
    call.input("mask") = {};
    call.out = array_of(part.data(), {kSeen, kSeen, kWidth});
    REQUIRE(call.run(block) == 0);
    for (std::size_t i = 0; i < kSeen; ++i)
      for (std::size_t j = 0; j < kSeen; ++j)
        for (std::size_t e = 0; e < kWidth; ++e)
          CHECK(whole[(i * kTokens + j) * kWidth + e] ==
                Approx(part[(i * kSeen + j) * kWidth + e]).margin(2e-5));
  }
}

TEST_CASE("c_api.block: attention alone equals double precision", "[c_api]") {
  constexpr std::int64_t kLines = 3, kQueries = 5, kKeys = 9;
  test::RandomNumbers random(5);
  const Numbers q = random.take(kBatches * kLines * kHeads * kQueries * kHead, 2),
                k = random.take(kBatches * kLines * kHeads * kKeys * kHead, 2),
                v = random.take(kBatches * kLines * kHeads * kKeys * kHead, 2),
                bias = random.take(kBatches * kHeads * kQueries * kKeys, 2);
  std::vector<std::uint8_t> mask(kBatches * kLines * kKeys);
  for (std::size_t line = 0; line < kBatches * kLines; ++line)  // line 0 has no key, others more
    for (std::size_t key = 0; key < kKeys; ++key) mask[line * kKeys + key] = key < 2 * line;
  const auto context = test::open_blocks("cpu", "fp32");
  for (const bool has_bias : {false, true})
    for (const bool has_mask : {false, true})
      for (const bool heads_last : {false, true}) {
        CAPTURE(has_bias, has_mask, heads_last);
        Numbers out(q.size());
        biogpu_block_attention_call call{};
        call.q = array_of(q.data(), {kBatches, kLines, kHeads, kQueries, kHead});
        call.k = array_of(k.data(), {kBatches, kLines, kHeads, kKeys, kHead});
        call.v = array_of(v.data(), {kBatches, kLines, kHeads, kKeys, kHead});
        if (has_bias) call.bias = array_of(bias.data(), {kBatches, 1, kHeads, kQueries, kKeys});
        if (has_mask)
          call.mask = array_of(mask.data(), {kBatches, kLines, 1, 1, kKeys}, BIOGPU_BLOCK_U8);
        call.out = array_of(out.data(), {kBatches, kLines, kHeads, kQueries, kHead});
        if (heads_last)  // in memory [B, N, Q, H, D]
          call.out = test::permuted_array(
              array_of(out.data(), {kBatches, kLines, kQueries, kHeads, kHead}), {0, 1, 3, 2, 4});
        call.scale = has_bias ? 0.7f : 0.0f;
        REQUIRE(biogpu_block_attention(context.get(), &call) == 0);
        const double scale = has_bias ? 0.7f : 1 / std::sqrt(static_cast<double>(kHead));
        Doubles right(q.size());
        for (std::size_t line = 0; line < kBatches * kLines; ++line)
          for (std::size_t h = 0; h < kHeads; ++h)
            for (std::size_t i = 0; i < kQueries; ++i) {
              const auto rows = [&](const Numbers& x, std::size_t n, std::size_t at) {
                const auto begin =
                    x.begin() + static_cast<std::ptrdiff_t>(((line * kHeads + h) * n + at) * kHead);
                return Doubles(begin, begin + kHead);
              };
              std::vector<Doubles> keys, values;
              for (std::size_t j = 0; j < kKeys; ++j) {
                keys.push_back(rows(k, kKeys, j));
                values.push_back(rows(v, kKeys, j));
              }
              const Doubles one = test::attended_row(
                  rows(q, kQueries, i), keys, values,
                  [&](std::size_t, std::size_t key) {
                    const std::size_t b = line / kLines;
                    return has_bias ? bias[((b * kHeads + h) * kQueries + i) * kKeys + key] : 0.0;
                  },
                  [&](std::size_t key) { return !has_mask || mask[line * kKeys + key] != 0; }, 1,
                  scale);
              const std::size_t row = heads_last ? (line * kQueries + i) * kHeads + h
                                                 : (line * kHeads + h) * kQueries + i;
              std::copy(one.begin(), one.end(),
                        right.begin() + static_cast<std::ptrdiff_t>(row * kHead));
            }
        CHECK(test::differences(out, right).first < 1e-5);
      }
}

TEST_CASE("c_api.block: workspace of the caller", "[c_api]") {
  const Inputs inputs;
  const auto context = test::open_blocks("cpu", "fp32");
  const auto block = test::make_block(context, kKinds[2].name, weights_of(kKinds[2], false));
  Numbers own(inputs.pairs.size()), given(inputs.pairs.size());
  test::BlockCall call = inputs.call(own, true);
  REQUIRE(call.run(block) == 0);
  call.out.data = call.input("pairs").data = nullptr;  // not looked at
  std::size_t bytes = 0;
  REQUIRE(call.measure(block, bytes) == 0);
  REQUIRE(bytes >= 256);
  call = inputs.call(given, true);
  const std::unique_ptr<void, void (*)(void*)> memory(
      std::aligned_alloc(256, (bytes / 256 + 2) * 256), &std::free);
  call.workspace = memory.get();
  call.workspace_bytes = bytes;
  REQUIRE(call.run(block) == 0);
  CHECK(own == given);
  call.workspace_bytes = bytes - 1;
  CHECK(call.run(block) == 2);
  CHECK(test::says("a workspace of"));
  call.workspace = static_cast<char*>(memory.get()) + 16;
  CHECK(call.run(block) == 2);
  CHECK(test::says("multiple of 256"));
}

TEST_CASE("c_api.block: failures return a code and one line", "[c_api]") {
  biogpu_block_context* none = nullptr;
  CHECK(biogpu_block_open("cpu", "fp12", 1, &none) == 2);
  CHECK(test::says("none of auto, fp32, fp64, tf32, bf16, fp16"));
  CHECK(biogpu_block_open("cpu", "bf16", 1, &none) == 2);
  CHECK(test::says("a precision of GPUs"));
  CHECK(biogpu_block_open("cpu", "fp32", -1, &none) == 2);
  CHECK(biogpu_block_open(nullptr, "fp32", 1, &none) == 2);
  CHECK(none == nullptr);
  biogpu_block_close(nullptr);
  biogpu_block_free(nullptr);
  CHECK(biogpu_block_device(nullptr) == nullptr);

  const auto context = test::open_blocks("cpu", "fp32");
  CHECK(biogpu_block_device(context.get()) == std::string("cpu"));
  CHECK(biogpu_block_device(test::open_blocks("cpu", "fp64").get()) == std::string("cpu"));
  const Inputs inputs;
  biogpu_block* made = nullptr;
  const auto make = [&](const char* kind, const test::BlockWeights& weights) {
    const auto list = weights.list();
    return biogpu_block_make(context.get(), kind, list.data(), static_cast<int>(list.size()), 0,
                             &made);
  };
  test::BlockWeights weights = weights_of(kKinds[2], true);
  CHECK(make("triangle", weights) == 2);
  CHECK(test::says("kind triangle; expected"));
  CHECK(make("triangle-product-out", weights) == 3);
  CHECK(test::says("layer_norm_in"));
  const auto missing = weights.by_name.extract("mha.linear_g.weight");
  CHECK(make(kKinds[2].name, weights) == 3);
  CHECK(test::says("mha.linear_g.weight"));
  weights = weights_of(kKinds[0], true);
  weights.by_name.erase("linear_b_g.bias");
  CHECK(make(kKinds[0].name, weights) == 3);
  CHECK(test::says("linear_b_g.bias"));
  weights = weights_of(kKinds[0], true);
  weights.by_name["more.weight"] = {{1.0f}, {1}};
  CHECK(make(kKinds[0].name, weights) == 3);
  CHECK(test::says("more.weight"));
  weights = weights_of(kKinds[0], true);
  weights.by_name["linear_z.weight"].values[3] = NAN;
  CHECK(make(kKinds[0].name, weights) == 3);
  CHECK(test::says("linear_z.weight"));
  CHECK(made == nullptr);

  const auto block = test::make_block(context, kKinds[0].name, weights_of(kKinds[0], false));
  Numbers out(inputs.pairs.size(), -7);
  const auto refused = [&](const char* what, const std::function<void(test::BlockCall&)>& spoil) {
    test::BlockCall call = inputs.call(out, true);
    spoil(call);
    return call.run(block) == 2 && test::says(what);
  };
  CHECK(refused("pairs: not given", [](auto& call) { call.input("pairs").n_axes = 0; }));
  CHECK(refused("pairs: 6 axes", [](auto& call) { call.input("pairs").n_axes = 6; }));
  CHECK(refused("expected [2, 5, 5, 12]", [](auto& call) { call.out.shape[1] = 4; }));
  CHECK(refused("expected [any, any, any, 12]",
                [](auto& call) { call.input("pairs").shape[3] = 11; }));
  CHECK(refused("mask: f32 [2, 5, 4]", [](auto& call) { call.input("mask").shape[2] = 4; }));
  CHECK(refused("mask: type 9", [](auto& call) { call.input("mask").type = 9; }));
  CHECK(refused("expected f32", [](auto& call) { call.input("mask").type = BIOGPU_BLOCK_U8; }));
  CHECK(refused("the context takes f32 alone", [](auto& call) { call.input("pairs").type = 2; }));
  CHECK(refused("a stride of -1", [](auto& call) { call.input("pairs").stride[0] = -1; }));
  CHECK(refused("a stride of 0, in a result", [](auto& call) { call.out.stride[0] = 0; }));
  CHECK(refused("the last axis has a stride of 2", [](auto& call) { call.out.stride[3] = 2; }));
  CHECK(refused("an extent of", [](auto& call) {
    call.input("pairs").shape[0] = std::numeric_limits<std::int64_t>::max();
  }));
  CHECK(refused("more memory",
                [](auto& call) { call.input("pairs").stride[0] = std::int64_t{1} << 48; }));
  CHECK(refused("whose data is NULL", [](auto& call) { call.out.data = nullptr; }));
  CHECK(refused("neither 0 nor 1", [](auto& call) { call.add = 2; }));
  CHECK(refused("a stream", [](auto& call) { call.stream = &call; }));
  CHECK(out == Numbers(inputs.pairs.size(), -7));
  CHECK(biogpu_block_run(nullptr, nullptr) == 2);

  test::BlockCall empty;
  empty.input("pairs") = empty.out = array_of(nullptr, {0, 0, kWidth});
  CHECK(empty.run(block) == 0);
}

TEST_CASE("c_api.block: a block outlives its context's handle", "[c_api]") {
  const Inputs inputs;
  auto context = test::open_blocks("cpu", "fp32");
  const auto block = test::make_block(context, kKinds[1].name, weights_of(kKinds[1], false));
  context.reset();
  Numbers out(inputs.pairs.size());
  test::BlockCall call = inputs.call(out, false);
  REQUIRE(call.run(block) == 0);
  const Doubles right = expected(kKinds[1], weights_of(kKinds[1], false), inputs, false, false);
  CHECK(test::differences(out, right).first < 1e-5);
}
