// The outer product mean of rows whose sums are larger than fp16 holds, in double precision by
// plain loops.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/structure/msa_blocks.hpp"
#include "lib/tensor/weights/weight_table.hpp"
#include "tests/models/pairformer/model_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::DType;
using tensor::Precision;
using tensor::Tensor;

namespace {

constexpr std::size_t kRows = 30, kTokens = 5, kMsa = 8, kOuter = 4, kPair = 8;

struct Weight {
  std::vector<float> values;
  std::vector<std::int64_t> shape;
};

struct Case {
  std::map<std::string, Weight> weights;
  std::vector<float> m, mask, z;
};

// Rows of a norm whose bias is 9 are about 9: sides are about 72, and 30 rows of products 155,000.
Case make_case(bool has_mask) {
  std::mt19937 bits(11);
  const auto random = [&](std::size_t n, float middle, float spread) {
    std::uniform_real_distribution<float> numbers(middle - spread, middle + spread);
    std::vector<float> values(n);
    for (float& value : values) value = numbers(bits);
    return values;
  };
  Case made;
  made.weights["layer_norm.weight"] = {random(kMsa, 1, 0.5f), {kMsa}};
  made.weights["layer_norm.bias"] = {random(kMsa, 9, 1), {kMsa}};
  for (const char* const name : {"linear_1.weight", "linear_2.weight"})
    made.weights[name] = {random(kOuter * kMsa, 1, 0.5f), {kOuter, kMsa}};
  made.weights["linear_out.weight"] = {random(kPair * kOuter * kOuter, 0, 1e-3f),
                                       {kPair, kOuter * kOuter}};
  made.weights["linear_out.bias"] = {random(kPair, 0, 2), {kPair}};
  made.m = random(kRows * kTokens * kMsa, 0, 2);
  made.z = random(kTokens * kTokens * kPair, 0, 3);
  if (!has_mask) return made;
  made.mask.assign(kRows * kTokens, 1);
  for (std::size_t i = 0; i < made.mask.size(); i += 4) made.mask[i] = 0;
  return made;
}

// What becomes of z.
std::vector<double> expected(const Case& given) {
  const auto weight = [&](const char* name, std::size_t i) {
    return static_cast<double>(given.weights.at(name).values[i]);
  };
  const auto seen = [&](std::size_t row) { return given.mask.empty() || given.mask[row] != 0; };
  const auto side = [&](const char* name, std::size_t row) {
    const float* const x = given.m.data() + row * kMsa;
    double mean = 0, variance = 0;
    for (std::size_t k = 0; k < kMsa; ++k) mean += x[k] / static_cast<double>(kMsa);
    for (std::size_t k = 0; k < kMsa; ++k)
      variance += (x[k] - mean) * (x[k] - mean) / static_cast<double>(kMsa);
    std::vector<double> y(kOuter);
    for (std::size_t c = 0; c < kOuter; ++c)
      for (std::size_t k = 0; k < kMsa; ++k)
        y[c] +=
            weight(name, c * kMsa + k) * ((x[k] - mean) / std::sqrt(variance + models::kNormEps) *
                                              weight("layer_norm.weight", k) +
                                          weight("layer_norm.bias", k));
    return y;
  };
  std::vector<double> z(given.z.begin(), given.z.end());
  for (std::size_t pair = 0; pair < kTokens * kTokens; ++pair) {
    const std::size_t i = pair / kTokens, j = pair % kTokens;
    std::vector<double> sums(kOuter * kOuter);
    double n_both = 1e-3;
    for (std::size_t s = 0; s < kRows; ++s) {
      if (!seen(s * kTokens + i) || !seen(s * kTokens + j)) continue;
      ++n_both;
      const auto a = side("linear_1.weight", s * kTokens + i);
      const auto b = side("linear_2.weight", s * kTokens + j);
      for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += a[p / kOuter] * b[p % kOuter];
    }
    if (n_both > 20) CHECK(*std::max_element(sums.begin(), sums.end()) > 66000);
    for (std::size_t c = 0; c < kPair; ++c) {
      double y = weight("linear_out.bias", c);
      for (std::size_t p = 0; p < sums.size(); ++p)
        y += weight("linear_out.weight", c * sums.size() + p) * sums[p];
      z[pair * kPair + c] += y / n_both;
    }
  }
  return z;
}

std::vector<float> computed(tensor::Context& context, const Case& given) {
  std::map<std::string, tensor::StoredTensor> tensors;
  for (const auto& [name, weight] : given.weights) {
    tensor::StoredTensor& stored = tensors["block." + name];
    stored.type = "F32";
    stored.shape = weight.shape;
    stored.data = reinterpret_cast<const std::uint8_t*>(weight.values.data());
    stored.bytes = weight.values.size() * sizeof(float);
  }
  const auto checkpoint = tensor::Checkpoint::in_memory("weights", std::move(tensors));
  tensor::WeightTable table(checkpoint);
  models::MsaShape shape;
  shape.c_msa = kMsa;
  shape.c_pair = kPair;
  shape.c_outer = kOuter;
  const auto block = models::read_outer_product_mean(context, table, "block", shape);
  table.finish();

  constexpr std::size_t kArenaBytes = std::size_t{1} << 22;
  tensor::Arena arena(context.allocate(kArenaBytes), kArenaBytes);
  const auto device = [&](const std::vector<float>& values,
                          std::initializer_list<std::int64_t> extents) {
    if (values.empty()) return Tensor();
    const Tensor x = arena.take(DType::f32, extents);
    context.copy_in(x, values.data());
    return x;
  };
  const Tensor z = device(given.z, {kTokens, kTokens, kPair});
  models::add_outer_product_mean({context, arena}, block, device(given.m, {kRows, kTokens, kMsa}),
                                 device(given.mask, {kRows, kTokens}), z);
  std::vector<float> values(given.z.size());
  context.copy_out(values.data(), models::rows_of_pairs(z));
  context.synchronize();
  return values;
}

}  // namespace

TEST_CASE("pairformer: sums of outer products need not fit a GPU's fp16", "[model][device]") {
  if (!test::has_gpu()) return;
  for (const bool has_mask : {false, true}) {
    const Case given = make_case(has_mask);
    const std::vector<double> right = expected(given);
    for (const auto& [precision, rounding] : {std::pair{Precision::fp32, 0x1p-21},
                                              {Precision::fp16, 0x1p-12},
                                              {Precision::bf16, 0x1p-9}}) {
      const auto context = tensor::make_gpu_context(0, {precision});
      const std::vector<float> got = computed(*context, given);
      const double largest = test::difference(got, right).largest;
      CAPTURE(has_mask, rounding, largest);
      CHECK(largest < 40 * rounding);  // forty roundings of operands
    }
  }
}
