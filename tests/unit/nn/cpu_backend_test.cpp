#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "lib/core/simd_targets.hpp"
// Highway after its settings.
#include <hwy/targets.h>

#include "lib/nn/backend.hpp"
#include "lib/nn/reference_ops.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using nn::Activation;
using nn::DType;
using nn::Tensor;

namespace {

// Tensors of both backends lie in host memory, so that one tensor serves both.
struct Numbers {
  std::vector<float> values;
  Tensor view;
};

Numbers make(std::initializer_list<std::int64_t> shape, float size, unsigned seed) {
  Numbers made;
  made.view = Tensor(nullptr, DType::f32, shape);
  made.values.resize(static_cast<std::size_t>(made.view.size()));
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  for (float& value : made.values) value = size * normal(random);
  made.view.data = made.values.data();
  return made;
}

// The largest difference over the root mean square of what is right.
double difference(const Numbers& got, const Numbers& right) {
  double squares = 0, worst = 0;
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    const double r = static_cast<double>(right.values[i]);
    const double apart = std::fabs(static_cast<double>(got.values[i]) - r);
    squares += r * r;
    worst = std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
  }
  return worst /
         std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, right.values.size())));
}

// The largest difference, counted in roundings to fp32 of the largest number that is right.
double roundings(const Numbers& got, const Numbers& right) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    const double r = static_cast<double>(right.values[i]);
    const double apart = std::fabs(static_cast<double>(got.values[i]) - r);
    largest = std::max(largest, std::fabs(r));
    worst = std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
  }
  return worst / (largest * 0x1p-24);
}

std::vector<std::int64_t> instruction_sets() {
  std::vector<std::int64_t> targets;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1)
    targets.push_back(left & -left);
  return targets;
}

// The reference and the CPU's backend, with each of the CPU's instruction sets in turn.
struct Both {
  Both() {
    static const std::vector<std::int64_t> all = instruction_sets();
    hwy::SetSupportedTargetsForTest(GENERATE(from_range(all)));
  }
  ~Both() { hwy::SetSupportedTargetsForTest(0); }
  Both(const Both&) = delete;
  Both& operator=(const Both&) = delete;

  std::unique_ptr<nn::Backend> reference = nn::make_reference_backend();
  std::unique_ptr<nn::Backend> cpu = nn::make_cpu_backend({nn::Precision::fp32, 2});
};

nn::Batch batch_of(nn::Backend& backend, const std::vector<std::int32_t>& lengths) {
  nn::HostBatch host;
  host.starts.push_back(0);
  for (const std::int32_t length : lengths) {
    for (std::int32_t t = 0; t < length; ++t) {
      host.ids.push_back((t * 7 + length) % 33);
      host.scale.push_back(t % 5 == 0 ? 0.0f : 0.88f);
    }
    host.starts.push_back(static_cast<std::int32_t>(host.ids.size()));
  }
  constexpr std::size_t kBytes = 1 << 18;
  nn::Arena arena(backend.allocate(kBytes), kBytes);
  return backend.upload_batch(host, arena);
}

Tensor part(const Tensor& qkv, std::int64_t i, std::int64_t d, std::int64_t n_heads) {
  return nn::split_heads(qkv.slice(1, i * d, (i + 1) * d), n_heads);
}

// The largest size of a score q k of one sequence in rows of queries, keys, values.
double largest_score(const std::vector<float>& qkv, std::int64_t d, std::int64_t n_heads,
                     const std::vector<std::int32_t>& lengths, double scale) {
  const std::int64_t h = d / n_heads;
  double largest = 0;
  std::int64_t begin = 0;
  for (const std::int32_t length : lengths) {
    for (std::int64_t i = begin; i < begin + length; ++i)
      for (std::int64_t j = begin; j < begin + length; ++j)
        for (std::int64_t head = 0; head < n_heads; ++head) {
          const auto query = qkv.begin() + i * 3 * d + head * h;
          const auto key = qkv.begin() + j * 3 * d + d + head * h;
          largest =
              std::max(largest, std::fabs(scale * std::inner_product(query, query + h, key, 0.0)));
        }
    begin += length;
  }
  return largest;
}

}  // namespace

TEST_CASE("nn.cpu_backend: products with every epilogue", "[nn]") {
  const Both both;
  const std::int64_t m = GENERATE(1, 5, 12, 13, 100), n = GENERATE(1, 31, 33, 64, 97),
                     k = GENERATE(1, 40);
  const Numbers weight = make({n, k}, 0.3f, 1), bias = make({n}, 1, 2), x = make({m, k}, 1, 3);
  const nn::Linear a = both.reference->upload_linear(weight.view, bias.view);
  const nn::Linear b = both.cpu->upload_linear(weight.view, bias.view);
  Numbers right = make({m, n}, 1, 4), got = make({m, n}, 1, 4);
  const bool residual = GENERATE(false, true);
  const Activation activation = residual ? Activation::none : Activation::gelu_erf;
  both.reference->gemm({x.view, &a, activation, residual ? right.view : Tensor(), right.view});
  both.cpu->gemm({x.view, &b, activation, residual ? got.view : Tensor(), got.view});
  CHECK(difference(got, right) < 2e-6);
}

TEST_CASE("nn.cpu_backend: a row's product does not depend on the rows beside it", "[nn]") {
  const Both both;
  const Numbers weight = make({70, 50}, 1, 1), x = make({300, 50}, 1, 2);
  const nn::Linear linear = both.cpu->upload_linear(weight.view, {});
  const Numbers whole = make({300, 70}, 0, 3), some = make({5, 70}, 0, 3);
  both.cpu->gemm({x.view, &linear, Activation::none, {}, whole.view});
  both.cpu->gemm({x.view.slice(0, 201, 206), &linear, Activation::none, {}, some.view});
  CHECK(std::equal(some.values.begin(), some.values.end(), whole.values.begin() + 201 * 70));
}

TEST_CASE("nn.cpu_backend: the activation over its whole range", "[nn]") {
  const Both both;
  Numbers x = make({1, 4096}, 1, 1), one = make({1, 1}, 0, 1);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = -12 + static_cast<float>(i) * (24.0f / 4096);
  x.view = Tensor(x.values.data(), DType::f32, {4096, 1});
  one.values[0] = 1;
  const nn::Linear a = both.reference->upload_linear(one.view, {});
  const nn::Linear b = both.cpu->upload_linear(one.view, {});
  Numbers right = make({4096, 1}, 0, 1), got = make({4096, 1}, 0, 1);
  both.reference->gemm({x.view, &a, Activation::gelu_erf, {}, right.view});
  both.cpu->gemm({x.view, &b, Activation::gelu_erf, {}, got.view});
  for (std::size_t i = 0; i < got.values.size(); ++i)
    CHECK(std::fabs(got.values[i] - right.values[i]) <=
          3e-7f * std::max(1.0f, std::fabs(x.values[i])));
}

TEST_CASE("nn.cpu_backend: embedding, normalisation and rotation", "[nn]") {
  const Both both;
  const std::int64_t d = GENERATE(16, 31, 320);
  const Numbers table = make({33, d}, 1, 1), places = make({64, d}, 1, 2);
  const Numbers weight = make({d}, 1, 3), bias = make({d}, 1, 4);
  const nn::Norm norm{weight.view, bias.view, 1e-5f};
  const nn::Batch batch = batch_of(*both.cpu, {1, 40, 7});
  const auto check = [&](const auto& run) {
    Numbers right[3] = {make({48, d}, 0, 1), make({48, d}, 0, 1), make({48, d}, 0, 1)};
    Numbers got[3] = {make({48, d}, 0, 1), make({48, d}, 0, 1), make({48, d}, 0, 1)};
    run(*both.reference, right);
    run(*both.cpu, got);
    // Centred, scaled, weighted, and moved by the bias: four roundings, none of a larger number.
    for (int i = 0; i < 3; ++i) CHECK(roundings(got[i], right[i]) < 4);
  };
  check([&](nn::Backend& backend, Numbers(&out)[3]) {
    backend.embed({table.view, places.view, norm, out[0].view, out[1].view, out[2].view}, batch);
  });
  const Numbers x = make({48, d}, 3, 5), add = make({48, d}, 1, 6);
  check([&](nn::Backend& backend, Numbers(&out)[3]) {
    backend.add_layer_norm({x.view, add.view, norm, out[0].view, out[1].view, out[2].view});
  });
}

TEST_CASE("nn.cpu_backend: attention, its bias, and contacts", "[nn]") {
  const Both both;
  const std::int64_t h = GENERATE(16, 24, 32, 40, 64, 128), n_heads = 2, d = n_heads * h;
  const std::vector<std::int32_t> lengths{1, 2, 16, 70, 33};
  const std::int64_t n_tokens = 122, n_pairs = 14 * 14 + 68 * 68 + 31 * 31;
  const nn::Batch batch = batch_of(*both.cpu, lengths);
  const Numbers x = make({n_tokens, 48}, 1, 1), w = make({3 * d, 48}, 0.2f, 2),
                b = make({3 * d}, 1, 3);
  const Numbers cos_sin = make({70, h}, 0.7f, 4);
  // Shared by the sequences, of each, and shared by the heads.
  const std::vector<Numbers> biases = [] {
    std::vector<Numbers> all;
    all.push_back(make({1, 2, 70, 70}, 1, 5));
    all.push_back(make({5, 2, 70, 70}, 1, 5));
    all.push_back(make({5, 1, 70, 70}, 1, 5));
    return all;
  }();
  const Numbers weight = make({n_heads}, 1, 6);
  const int which = GENERATE(-1, 0, 1, 2);
  const Tensor bias = which < 0 ? Tensor() : biases[static_cast<std::size_t>(which)].view;
  const auto run = [&](nn::Backend& backend) {
    std::vector<Numbers> out;
    for (const auto& shape : {std::initializer_list<std::int64_t>{n_tokens, 3 * d},
                              {n_tokens, d},
                              {n_heads, n_tokens},
                              {n_pairs},
                              {n_heads, n_tokens}})
      out.push_back(make(shape, 0, 1));
    const nn::Linear linear = backend.upload_linear(w.view, b.view);
    backend.qkv_rotary({x.view, &linear, n_heads, {cos_sin.view}, out[0].view}, batch);
    const Tensor q = part(out[0].view, 0, d, n_heads), k = part(out[0].view, 1, d, n_heads),
                 v = part(out[0].view, 2, d, n_heads);
    backend.attention({q, k, v, 0.4f, bias, out[1].view, out[2].view}, batch);
    backend.accumulate_contacts({q, k, 0.4f, out[2].view, weight.view, 0, out[3].view, out[4].view},
                                batch);
    backend.finish_contacts({out[3].view, out[4].view, weight.view, 0.3f}, batch);
    return out;
  };
  const std::vector<Numbers> right = run(*both.reference), got = run(*both.cpu);
  CHECK(roundings(got[0], right[0]) < 4);  // Queries, keys, values.
  CHECK(roundings(got[2], right[2]) <
        8);  // Logarithms of the sums of weights: as large as a score.
  // A weight is the exponential of a score, so a score's rounding becomes the weight's relative
  // error: one for the product, one for the difference to the row's largest score.
  const double size = largest_score(right[0].values, d, n_heads, lengths, 0.4);
  for (const std::size_t i : {1, 3, 4}) {
    INFO("tensor " << i);
    CHECK(roundings(got[i], right[i]) < 2 * size);
  }
}

TEST_CASE("nn.cpu_backend: attention where masks are the least number", "[nn]") {
  const Both both;
  const std::int64_t n_heads = 2, d = 64, n = 21;
  const nn::Batch batch = batch_of(*both.cpu, {21});
  const Numbers qkv = make({n, 3 * d}, 1, 1);
  // Of some queries every key but one, of the others every key.
  Numbers bias = make({1, 1, n, n}, 0, 2);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (i % 2 == 0 || j != 3)
        bias.values[static_cast<std::size_t>(i * n + j)] = std::numeric_limits<float>::lowest();
  const auto run = [&](nn::Backend& backend) {
    Numbers out = make({n, d}, 0, 1);
    backend.attention({part(qkv.view, 0, d, n_heads),
                       part(qkv.view, 1, d, n_heads),
                       part(qkv.view, 2, d, n_heads),
                       0.4f,
                       bias.view,
                       out.view,
                       {}},
                      batch);
    return out;
  };
  CHECK(difference(run(*both.cpu), run(*both.reference)) < 1e-6);
}

TEST_CASE("nn.cpu_backend: softmax, means and gathers", "[nn]") {
  const Both both;
  const nn::Batch batch = batch_of(*both.cpu, {2, 41, 1, 18});
  Numbers x = make({62, 33}, 2, 1), y = make({62, 33}, 2, 1);
  Numbers right = make({4, 33}, 0, 1), got = make({4, 33}, 0, 1);
  both.reference->mean_pool(right.view, x.view, batch);
  both.cpu->mean_pool(got.view, x.view, batch);
  CHECK(difference(got, right) < 1e-6);
  both.reference->log_softmax(x.view);
  both.cpu->log_softmax(y.view);
  CHECK(difference(y, x) < 1e-6);
  both.reference->tanh(x.view);
  both.cpu->tanh(y.view);
  CHECK(difference(y, x) < 1e-6);
}
