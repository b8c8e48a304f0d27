#include <vector>

#include "tests/unit/gpu/nn/nn_support.hpp"

using namespace biogpu;
using nn::DType;
using nn::Precision;
using nn::Tensor;
using test::Bench;
using test::Pair;

namespace {

const auto kPrecisions = {Precision::fp32, Precision::fp16, Precision::bf16};

struct LinearPair {
  Pair weight, bias;
  nn::Linear host, device;
};

LinearPair linear(Bench& bench, std::int64_t n_out, std::int64_t n_in) {
  LinearPair made;
  made.weight = bench.random({n_out, n_in}, 0.2f, true);
  made.bias = bench.random({n_out}, 0.5f, false);
  made.host = bench.reference().upload_linear(made.weight.host, made.bias.host);
  made.device = bench.device().upload_linear(made.weight.host, made.bias.host);
  return made;
}

}  // namespace

TEST_CASE("nn.backend_gpu: matrix products with every epilogue", "[nn][device]") {
  if (!test::has_gpu()) return;
  Bench bench(GENERATE(values(kPrecisions)));
  const std::int64_t m = GENERATE(1, 63, 130), n = GENERATE(33, 64), k = GENERATE(40, 96);
  const LinearPair weights = linear(bench, n, k);
  const Pair x = bench.random({m, k}, 1.0f, true);
  const nn::Linear& host = weights.host;
  SECTION("bias") {
    const Pair out = bench.empty({m, n}, false);
    bench.reference().gemm({x.host, &host, nn::Activation::none, {}, out.host});
    bench.device().gemm({x.device, &weights.device, nn::Activation::none, {}, out.device});
    CHECK(bench.difference(out) < 1e-5);
  }
  SECTION("bias, activation, operands out") {
    const Pair out = bench.empty({m, n}, true);
    bench.reference().gemm({x.host, &host, nn::Activation::gelu_erf, {}, out.host});
    bench.device().gemm({x.device, &weights.device, nn::Activation::gelu_erf, {}, out.device});
    CHECK(bench.difference(out) < test::bound_of(bench.precision()));
  }
  SECTION("bias and residual, in place") {
    const Pair out = bench.random({m, n}, 1.0f, false);
    bench.reference().gemm({x.host, &host, nn::Activation::none, out.host, out.host});
    bench.device().gemm({x.device, &weights.device, nn::Activation::none, out.device, out.device});
    CHECK(bench.difference(out) < 1e-5);
  }
  SECTION("bias and residual of operands, in place") {
    const Pair out = bench.random({m, n}, 1.0f, true);
    bench.reference().gemm({x.host, &host, nn::Activation::none, out.host, out.host});
    bench.device().gemm({x.device, &weights.device, nn::Activation::none, out.device, out.device});
    CHECK(bench.difference(out) < 2 * test::bound_of(bench.precision()));  // two roundings
  }
}

// Of a size that goes to the vendor's library where there is one.
TEST_CASE("nn.backend_gpu: larger products with a residual", "[nn][device]") {
  if (!test::has_gpu() || test::is_emulated()) return;
  Bench bench(GENERATE(values(kPrecisions)));
  const bool operands = GENERATE(false, true), in_place = GENERATE(false, true);
  // The larger one fills an H200: products of its own where they are added to in place.
  const auto [m, n, k] = GENERATE(
      table<std::int64_t, std::int64_t, std::int64_t>({{300, 256, 264}, {2100, 1280, 72}}));
  const LinearPair weights = linear(bench, n, k);
  const nn::Linear& host = weights.host;
  const Pair x = bench.random({m, k}, 1.0f, true);
  const Pair out = bench.random({m, n}, 1.0f, operands);
  const Pair other = bench.random({m, n}, 1.0f, operands);
  const Pair& residual = in_place ? out : other;
  bench.reference().gemm({x.host, &host, nn::Activation::none, residual.host, out.host});
  bench.device().gemm(
      {x.device, &weights.device, nn::Activation::none, residual.device, out.device});
  CHECK(bench.difference(out) < (operands ? 2 * test::bound_of(bench.precision()) : 2e-5));
}

TEST_CASE("nn.backend_gpu: a product is the same whatever rows are beside it", "[nn][device]") {
  if (!test::has_gpu()) return;
  Bench bench(Precision::fp16);
  const LinearPair weights = linear(bench, 96, 64);
  const Pair x = bench.random({300, 64}, 1.0f, true);
  const Pair whole = bench.empty({300, 96}, false), part = bench.empty({5, 96}, false);
  bench.device().gemm({x.device, &weights.device, nn::Activation::none, {}, whole.device});
  bench.device().gemm(
      {x.device.slice(0, 200, 205), &weights.device, nn::Activation::none, {}, part.device});
  std::vector<float> all(300 * 96), some(5 * 96);
  bench.device().copy_out(all.data(), whole.device);
  bench.device().copy_out(some.data(), part.device);
  bench.device().synchronize();
  CHECK(std::equal(some.begin(), some.end(), all.begin() + 200 * 96));
}

TEST_CASE("nn.backend_gpu: embedding and normalisation", "[nn][device]") {
  if (!test::has_gpu()) return;
  Bench bench(GENERATE(values(kPrecisions)));
  const std::int64_t d = GENERATE(64, 1000, 1032, 2560, 4100);  // one of each kernel
  const Pair table = bench.random({33, d}, 1.0f, false),
             places = bench.random({64, d}, 1.0f, false);
  const Pair weight = bench.random({d}, 1.0f, false), bias = bench.random({d}, 1.0f, false);
  const nn::Norm host{weight.host, bias.host, 1e-5f}, device{weight.device, bias.device, 1e-5f};
  const auto batch = test::upload(bench, {1, 40, 7}, 33);
  const Pair sum = bench.empty({48, d}, false), out = bench.empty({48, d}, false);
  const Pair operand = bench.empty({48, d}, true);
  SECTION("embedding with positions") {
    bench.reference().embed({table.host, places.host, host, sum.host, out.host, operand.host},
                            batch.host);
    bench.device().embed(
        {table.device, places.device, device, sum.device, out.device, operand.device},
        batch.device);
  }
  SECTION("residual and normalisation") {
    const Pair x = bench.random({48, d}, 3.0f, false), add = bench.random({48, d}, 1.0f, true);
    bench.reference().add_layer_norm({x.host, add.host, host, sum.host, out.host, operand.host});
    bench.device().add_layer_norm(
        {x.device, add.device, device, sum.device, out.device, operand.device});
  }
  SECTION("operands, in place") {
    const Pair x = bench.random({48, d}, 3.0f, true);
    bench.reference().add_layer_norm({x.host, {}, host, {}, out.host, x.host});
    bench.device().add_layer_norm({x.device, {}, device, {}, out.device, x.device});
    CHECK(bench.difference(out) < 1e-5);
    CHECK(bench.difference(x) < test::bound_of(bench.precision()));
    return;
  }
  CHECK(bench.difference(sum) < 1e-6);
  CHECK(bench.difference(out) < 1e-5);
  CHECK(bench.difference(operand) < test::bound_of(bench.precision()));
}

TEST_CASE("nn.backend_gpu: queries and keys are rotated", "[nn][device]") {
  if (!test::has_gpu()) return;
  Bench bench(GENERATE(values(kPrecisions)));
  const std::int64_t h = GENERATE(16, 24, 32, 64, 128), n_heads = 2, d = n_heads * h;
  const LinearPair weights = linear(bench, 3 * d, 64);
  const auto batch = test::upload(bench, {5, 62}, 33);
  const Pair x = bench.random({67, 64}, 1.0f, true), out = bench.empty({67, 3 * d}, true);
  const Pair cos_sin = bench.random({62, h}, 1.0f, false);
  const nn::Linear& host = weights.host;
  bench.reference().qkv_rotary({x.host, &host, n_heads, {cos_sin.host}, out.host}, batch.host);
  bench.device().qkv_rotary({x.device, &weights.device, n_heads, {cos_sin.device}, out.device},
                            batch.device);
  CHECK(bench.difference(out) < 2 * test::bound_of(bench.precision()));
}

namespace {

Tensor heads_of(const Tensor& x, std::int64_t first, std::int64_t n_heads, std::int64_t h) {
  Tensor heads = x.slice(1, first, first + n_heads * h);
  heads.rank = 3;
  heads.shape = {x.shape[0], n_heads, h};
  heads.stride = {x.stride[0], h, 1};
  return heads;
}

}  // namespace

TEST_CASE("nn.backend_gpu: attention over sequences of any length", "[nn][device]") {
  if (!test::has_gpu()) return;
  Bench bench(GENERATE(values(kPrecisions)));
  const std::int64_t h = GENERATE(16, 24, 32, 64, 128), n_heads = 2, d = n_heads * h;
  const auto batch = test::upload(bench, {1, 16, 70, 33}, 33);
  const std::int64_t n_tokens = 120;
  const Pair qkv = bench.random({n_tokens, 3 * d}, 1.0f, true);
  const Pair out = bench.empty({n_tokens, d}, true), sums = bench.empty({n_heads, n_tokens}, false);
  const auto part = [&](const Tensor& x, std::int64_t i) { return heads_of(x, i * d, n_heads, h); };
  const float scale = 0.5f;
  nn::Attention host{part(qkv.host, 0), part(qkv.host, 1), part(qkv.host, 2), scale, {},
                     out.host,          sums.host};
  nn::Attention device{part(qkv.device, 0), part(qkv.device, 1), part(qkv.device, 2), scale, {},
                       out.device,          sums.device};
  Pair bias;
  const auto add_bias = [&](std::int64_t n_of_sequences, std::int64_t n_of_heads) {
    bias = bench.random({n_of_sequences, n_of_heads, 70, 70}, 1.0f, true);
    host.bias = bias.host;
    device.bias = bias.device;
  };
  SECTION("plain") {}
  SECTION("with a bias that sequences share") { add_bias(1, n_heads); }
  SECTION("with a bias of each sequence") { add_bias(4, n_heads); }
  SECTION("with a bias that heads share") { add_bias(4, 1); }
  bench.reference().attention(host, batch.host);
  bench.device().attention(device, batch.device);
  CHECK(bench.difference(out) < test::bound_of(bench.precision()));
  CHECK(bench.difference(sums) < 1e-5);
}

TEST_CASE("nn.backend_gpu: contacts of attention probabilities", "[nn][device]") {
  if (!test::has_gpu()) return;
  Bench bench(GENERATE(Precision::fp32, Precision::fp16));
  const std::int64_t h = 16, n_heads = 3, d = n_heads * h, n_tokens = 62;
  const auto batch = test::upload(bench, {2, 41, 1, 18}, 33);
  const Pair qkv = bench.random({n_tokens, 3 * d}, 1.0f, true);
  const Pair out = bench.empty({n_tokens, d}, true), sums = bench.empty({n_heads, n_tokens}, false);
  const Pair weight = bench.random({n_heads}, 1.0f, false);
  const Pair scores = bench.pair({39 * 39 + 16 * 16}, std::vector<float>(39 * 39 + 16 * 16), false);
  const Pair row_sums =
      bench.pair({n_heads, n_tokens}, std::vector<float>(n_heads * n_tokens), false);
  const auto run = [&](nn::Backend& backend, const nn::Batch& its_batch, auto&& of) {
    const auto part = [&](std::int64_t i) { return heads_of(of(qkv), i * d, n_heads, h); };
    backend.attention({part(0), part(1), part(2), 0.25f, {}, of(out), of(sums)}, its_batch);
    backend.accumulate_contacts(
        {part(0), part(1), 0.25f, of(sums), of(weight), 0, of(scores), of(row_sums)}, its_batch);
    backend.finish_contacts({of(scores), of(row_sums), of(weight), 0.5f}, its_batch);
  };
  run(bench.reference(), batch.host, [](const Pair& x) { return x.host; });
  run(bench.device(), batch.device, [](const Pair& x) { return x.device; });
  CHECK(bench.difference(row_sums) < 1e-4);
  CHECK(bench.difference(scores) < 1e-4);
}

TEST_CASE("nn.backend_gpu: softmax, means and gathers", "[nn][device]") {
  if (!test::has_gpu()) return;
  Bench bench(Precision::fp16);
  const auto batch = test::upload(bench, {2, 41, 1, 18}, 33);
  const Pair x = bench.random({62, 33}, 2.0f, false), means = bench.empty({4, 33}, false);
  bench.reference().mean_pool(means.host, x.host, batch.host);
  bench.device().mean_pool(means.device, x.device, batch.device);
  CHECK(bench.difference(means) < 1e-5);
  const std::vector<std::int32_t> rows{5, 61, 0};
  const Pair some = bench.empty({3, 33}, false);
  const Tensor device_rows(bench.device().allocate(12), DType::i32, {3});
  bench.device().copy_in(device_rows, rows.data());
  bench.reference().gather_rows(some.host, x.host,
                                Tensor(const_cast<std::int32_t*>(rows.data()), DType::i32, {3}));
  bench.device().gather_rows(some.device, x.device, device_rows);
  CHECK(bench.difference(some) == 0);
  bench.reference().log_softmax(x.host);
  bench.device().log_softmax(x.device);
  CHECK(bench.difference(x) < 1e-5);
  bench.reference().tanh(x.host);
  bench.device().tanh(x.device);
  CHECK(bench.difference(x) < 1e-5);
}
