// The blocks of tokens, of an alignment and of the diffusion module, called from C.
#include <cstdlib>

#include "tests/c_api/kind_support.hpp"

using namespace biogpu;
using test::Doubles;
using test::KindCase;
using test::Numbers;

namespace {

// The largest difference in units of the root mean square of the update.
double error_of(const KindCase& one, const Numbers& out, bool adds) {
  const Doubles right = one.update();
  Numbers update = out;
  if (adds)
    for (std::size_t i = 0; i < out.size(); ++i) update[i] -= one.inputs[one.updated].values[i];
  return test::differences(update, right).first;
}

}  // namespace

TEST_CASE("c_api.block_kinds: blocks equal double precision", "[c_api]") {
  const auto fast = test::open_blocks("cpu", "auto"), exact = test::open_blocks("cpu", "fp64");
  for (const char* const kind : test::kOtherKinds) {
    const bool in_windows = std::string(kind) == "window-attention";
    for (const std::int64_t n : {1, 5, in_windows ? 70 : 17}) {
      const bool is_variant = n == 5;
      KindCase plain(kind, n, {}, is_variant), masked(kind, n, {}, is_variant);
      masked.set_mask(n - n / 3);
      for (const auto* const context : {&fast, &exact}) {
        if (context == &exact && n > 5) continue;
        const auto block = test::make_block(*context, kind, plain.weights);
        for (const KindCase* const one : {&plain, &masked})
          for (const bool adds : {false, true}) {
            CAPTURE(kind, n, context == &fast, one == &masked, adds);
            Numbers out;
            test::BlockCall call = test::call_of(*one, out);
            call.add = adds ? 1 : 0;
            const int code = call.run(block);
            INFO(biogpu_block_error());
            REQUIRE(code == 0);
            CHECK(error_of(*one, out, adds) < 1e-5);
          }
      }
    }
  }
}

TEST_CASE("c_api.block_kinds: batches share what has no axis of them, in place", "[c_api]") {
  constexpr std::int64_t kTokens = 5, kBatches = 2;
  const auto context = test::open_blocks("cpu", "fp32");
  for (const char* const kind : test::kOtherKinds) {
    CAPTURE(kind);
    KindCase one(kind, kTokens);
    one.set_mask(4);
    const auto block = test::make_block(context, kind, one.weights);
    const test::KindInput& updated = one.inputs[one.updated];
    // Batches of the updated input alone, the last axis behind the one of batches in memory: the
    // other inputs are those of both.
    const std::size_t size = updated.values.size();
    const auto width = static_cast<std::size_t>(updated.shape.back());
    Numbers turned(kBatches * size), other = test::RandomNumbers(4).take(size, 2);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t row = i / width, column = i % width;
      turned[row * kBatches * width + column] = updated.values[i];
      turned[row * kBatches * width + width + column] = other[i];
    }
    std::vector<std::int64_t> shape = updated.shape;
    shape.insert(shape.begin(), kBatches);
    biogpu_block_tensor batches = test::array_of(turned.data(), shape);
    for (std::size_t axis = 1; axis + 1 < shape.size(); ++axis) batches.stride[axis] *= kBatches;
    batches.stride[0] = updated.shape.back();
    Numbers out;
    test::BlockCall call = test::call_of(one, out);
    call.input(updated.name.c_str()) = call.out = batches;
    call.add = 1;
    const int code = call.run(block);
    INFO(biogpu_block_error());
    REQUIRE(code == 0);
    for (const bool is_second : {false, true}) {
      if (is_second) one.inputs[one.updated].values = other;
      for (std::size_t i = 0; i < size; ++i)
        out[i] = turned[i / width * kBatches * width + (is_second ? width : 0) + i % width];
      CHECK(error_of(one, out, true) < 1e-5);
    }
  }
}

TEST_CASE("c_api.block_kinds: NaN is not hidden, padding is not read", "[c_api]") {
  constexpr std::int64_t kTokens = 6, kSeen = 4;
  const auto context = test::open_blocks("cpu", "fp32");
  std::vector<std::pair<std::string, bool>> kinds;
  for (const char* const kind : test::kOtherKinds)
    for (const bool is_variant : {false, true}) kinds.emplace_back(kind, is_variant);
  for (const auto& [kind, is_variant] : kinds) {
    CAPTURE(kind, is_variant);
    KindCase one(kind, kTokens, {}, is_variant);
    const auto block = test::make_block(context, kind.c_str(), one.weights);
    for (test::KindInput& input : one.inputs) {
      if (kind == "outer-product-mean" && input.name == "pairs") continue;
      const std::size_t at = input.name == "pairs" && input.shape.size() == 4
                                 ? 48 * static_cast<std::size_t>(input.shape.back())
                                 : 0;
      const float kept = std::exchange(input.values[at], NAN);
      Numbers out;
      test::BlockCall call = test::call_of(one, out);
      REQUIRE(call.run(block) == 0);
      CAPTURE(input.name);
      CHECK(std::isnan(out[0]));
      input.values[at] = kept;
    }
    // Tokens that are no keys change no others.
    one.set_mask(kSeen);
    const test::KindInput* const mask = one.find("mask");
    if (mask == nullptr || mask->shape.size() != 1) continue;
    Numbers before, after;
    test::BlockCall call = test::call_of(one, before);
    REQUIRE(call.run(block) == 0);
    test::KindInput& first = one.inputs[0];
    const std::size_t width = static_cast<std::size_t>(first.shape.back());
    const std::size_t rows = first.values.size() / width;
    for (std::size_t row = 0; row < rows; ++row)
      if (row % kTokens >= kSeen)
        for (std::size_t i = 0; i < width; ++i) first.values[row * width + i] += 3;
    test::BlockCall other = test::call_of(one, after);
    REQUIRE(other.run(block) == 0);
    for (std::size_t row = 0; row < rows; ++row)
      if (row % kTokens < kSeen)
        for (std::size_t i = 0; i < width; ++i)
          CHECK(after[row * width + i] == Approx(before[row * width + i]).margin(1e-6));
  }
}

TEST_CASE("c_api.block_kinds: workspace, and failures with a code and one line", "[c_api]") {
  constexpr std::int64_t kTokens = 5;
  const auto context = test::open_blocks("cpu", "fp32");
  const auto make = [&](const char* kind, const test::BlockWeights& weights) {
    const auto list = weights.list();
    biogpu_block* made = nullptr;
    const int code = biogpu_block_make(context.get(), kind, list.data(),
                                       static_cast<int>(list.size()), 0, &made);
    CHECK(made == nullptr);
    return code;
  };
  for (const char* const kind : test::kOtherKinds) {
    CAPTURE(kind);
    KindCase one(kind, kTokens);
    const auto block = test::make_block(context, kind, one.weights);
    Numbers out, given;
    test::BlockCall call = test::call_of(one, out);
    REQUIRE(call.run(block) == 0);
    test::BlockCall measured = test::call_of(one, given);
    measured.out.data = measured.input(one.inputs[0].name.c_str()).data = nullptr;
    std::size_t bytes = 0;
    REQUIRE(measured.measure(block, bytes) == 0);
    CHECK(measured.run(block) == 2);
    CHECK(test::says("whose data is NULL"));
    call = test::call_of(one, given);
    const std::unique_ptr<void, void (*)(void*)> memory(
        std::aligned_alloc(256, (bytes + 255) / 256 * 256), &std::free);
    call.workspace = memory.get();
    call.workspace_bytes = bytes;
    REQUIRE(call.run(block) == 0);
    CHECK(given == out);
    call.workspace_bytes = bytes - 1;
    CHECK(call.run(block) == 2);
    CHECK(test::says("a workspace of"));

    const std::string first = one.inputs[0].name;
    const auto refused = [&](const std::string& what,
                             const std::function<void(test::BlockCall&)>& spoil) {
      test::BlockCall spoilt = test::call_of(one, out);
      spoil(spoilt);
      const int code = spoilt.run(block);
      INFO(what << " in " << biogpu_block_error());
      CHECK((code == 2 && test::says(what.c_str())));
    };
    refused(first + ": not given; expected",
            [&](auto& spoilt) { spoilt.input(first.c_str()).n_axes = 0; });
    refused("input residue; expected " + first, [](auto& spoilt) { spoilt.input("residue"); });
    refused(first + ": f32", [&](auto& spoilt) {
      biogpu_block_tensor& x = spoilt.input(first.c_str());
      ++x.shape[x.n_axes - 1];
    });
    refused("out: f32", [&](auto& spoilt) { ++spoilt.out.shape[0]; });
    refused("u8; expected floating-point",
            [&](auto& spoilt) { spoilt.input(first.c_str()).type = BIOGPU_BLOCK_U8; });
    for (const test::KindInput& input : one.inputs) {
      if (input.name == first) continue;
      refused(input.name + ": f32", [&](auto& spoilt) {
        ++spoilt.input(input.name.c_str()).shape[input.name == "condition" ? 0 : 1];
      });
    }
    // Each weight is needed, in its shape, with finite numbers; no other is known.
    for (const auto& [name, weight] : one.weights.by_name) {
      CAPTURE(name);
      test::BlockWeights spoilt = one.weights;
      spoilt.by_name[name].values[0] = NAN;
      CHECK(make(kind, spoilt) == 3);
      CHECK(test::says(name.c_str()));
      spoilt.by_name.erase(name);
      CHECK(make(kind, spoilt) == 3);
      CHECK(test::says(name.c_str()));
    }
    test::BlockWeights more = one.weights;
    more.by_name["more.weight"] = {{1.0f}, {1}};
    CHECK(make(kind, more) == 3);
    CHECK(test::says("more.weight"));
  }

  KindCase one("pair-bias-attention", kTokens);
  test::BlockWeights weights = one.weights;
  weights.by_name["linear_nobias_z.weight"] = {Numbers(5 * KindCase::kPair, 1.0f),
                                               {5, KindCase::kPair}};
  CHECK(make("pair-bias-attention", weights) == 3);
  CHECK(test::says("layernorm_a.weight: 12 rows, no multiple of the 5 of linear_nobias_z.weight"));
  weights = KindCase("token-transition", kTokens).weights;
  weights.by_name["linear_no_bias_a.weight"] = {Numbers(13 * 12, 1.0f), {13, 12}};
  CHECK(make("token-transition", weights) == 3);
  CHECK(test::says("linear_no_bias_a.weight: 13 rows, no multiple of the 12 of layernorm1.weight"));
  weights.by_name["linear_no_bias_a.weight"] = {{}, {0, 12}};
  CHECK(make("token-transition", weights) == 3);
  CHECK(test::says("linear_no_bias_a.weight"));

  const auto block = test::make_block(context, "pair-bias-attention", one.weights);
  Numbers out;
  test::BlockCall twice = test::call_of(one, out);
  biogpu_block_input inputs[] = {{"tokens", twice.input("tokens")},
                                 {"tokens", twice.input("tokens")}};
  biogpu_block_call call = twice;
  call.inputs = inputs;
  call.n_inputs = 2;
  CHECK(biogpu_block_run(block.get(), &call) == 2);
  CHECK(test::says("tokens: given twice"));
  call.inputs = nullptr;
  CHECK(biogpu_block_run(block.get(), &call) == 2);
  CHECK(test::says("inputs are NULL"));
  inputs[0].name = nullptr;
  call.inputs = inputs;
  CHECK(biogpu_block_run(block.get(), &call) == 2);
  CHECK(test::says("an input without a name"));
  test::BlockCall unlike = test::call_of(one, out);
  std::vector<std::int64_t> shape = one.inputs[0].shape;
  shape.insert(shape.begin(), 2);
  unlike.input("tokens") = test::array_of(one.inputs[0].values.data(), shape);
  CHECK(unlike.run(block) == 2);
  CHECK(test::says("out: no axis for 2 batches"));
  test::BlockCall product;  // of no rows, which have no mean
  const KindCase mean("outer-product-mean", kTokens);
  product.input("msa") = test::array_of(nullptr, {0, kTokens, KindCase::kMsa});
  out.resize(kTokens * kTokens * KindCase::kPair);
  product.out = test::array_of(out.data(), {kTokens, kTokens, KindCase::kPair});
  const auto mean_block = test::make_block(context, "outer-product-mean", mean.weights);
  CHECK(product.run(mean_block) == 2);
  CHECK(test::says("msa: no numbers"));
  product.input("msa") = test::array_of(mean.inputs[0].values.data(), mean.inputs[0].shape);
  product.add = 1;
  CHECK(product.run(mean_block) == 2);
  CHECK(test::says("pairs: not given"));
}
