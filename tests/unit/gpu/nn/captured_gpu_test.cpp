#include <string>
#include <vector>

#include "gpu/rt/tensor_map.hpp"
#include "tests/unit/gpu/nn/nn_support.hpp"

using namespace biogpu;
using nn::DType;
using nn::Precision;
using nn::Tensor;
using test::Bench;
using test::Pair;

namespace {

// An encoder of two blocks, as ESM-2's are, on a backend beside the reference.
class Encoder {
 public:
  Encoder(Bench& bench, std::int64_t n_heads, std::int64_t h, std::size_t n_layers = 2)
      : bench_(bench), n_heads_(n_heads), d_(n_heads * h), n_layers_(n_layers) {
    table_ = bench.random({33, d_}, 1.0f, false);
    angles_ = bench.random({256, h}, 0.7f, false);
    for (std::size_t i = 0; i < 2 * n_layers + 1; ++i) {
      weights_.push_back(bench.random({d_}, 1.0f, false));
      biases_.push_back(bench.random({d_}, 0.3f, false));
    }
    for (std::size_t i = 0; i < n_layers; ++i) {
      for (const auto& [n_out, n_in] :
           {std::pair(3 * d_, d_), {d_, d_}, {4 * d_, d_}, {d_, 4 * d_}}) {
        linear_weights_.push_back(
            bench.random({n_out, n_in}, 0.3f / std::sqrt(static_cast<float>(n_in)) * 3, true));
        linear_biases_.push_back(bench.random({n_out}, 0.3f, false));
        host_.push_back(bench.reference().upload_linear(linear_weights_.back().host,
                                                        linear_biases_.back().host));
        device_.push_back(
            bench.device().upload_linear(linear_weights_.back().host, linear_biases_.back().host));
      }
    }
  }

  std::int64_t d() const { return d_; }
  double n_layers() const { return static_cast<double>(n_layers_); }

  // Hidden states of the rows asked for, on the reference or on the device.
  template <class Of>
  void forward(nn::Backend& backend, const nn::Batch& batch, const std::vector<nn::Linear>& linears,
               nn::Arena& arena, const Tensor& rows, const Tensor& out, Of&& of) const {
    const auto scope = arena.scope();
    const std::int64_t n = batch.n_tokens;
    const Tensor x = arena.take(DType::f32, {n, d_}), h = arena.take(backend.operand(), {n, d_});
    const Tensor qkv = arena.take(backend.operand(), {n, 3 * d_});
    const Tensor wide = arena.take(backend.operand(), {n, 4 * d_});
    const auto norm = [&](std::size_t i) {
      return nn::Norm{of(weights_[i]), of(biases_[i]), 1e-5f};
    };
    const auto part = [&](std::int64_t i) {
      return nn::split_heads(qkv.slice(1, i * d_, (i + 1) * d_), n_heads_);
    };
    backend.embed({of(table_), {}, norm(0), x, {}, h}, batch);
    for (std::size_t i = 0; i < n_layers_; ++i) {
      if (i > 0) backend.add_layer_norm({x, {}, norm(2 * i), {}, {}, h});
      backend.qkv_rotary({h, &linears[4 * i], n_heads_, {of(angles_)}, qkv}, batch);
      backend.attention({part(0), part(1), part(2), 0.25f, {}, h, {}}, batch);
      backend.gemm({h, &linears[4 * i + 1], nn::Activation::none, x, x});
      backend.add_layer_norm({x, {}, norm(2 * i + 1), {}, {}, h});
      backend.gemm({h, &linears[4 * i + 2], nn::Activation::gelu_erf, {}, wide});
      backend.gemm({wide, &linears[4 * i + 3], nn::Activation::none, x, x});
    }
    backend.add_layer_norm({x, {}, norm(2 * n_layers_), {}, x, h});
    backend.gather_rows(out, x, rows);
  }

  // The same as a whole, where the device has a way for it.
  bool encode(const nn::Batch& batch, nn::Arena& arena, const Tensor& rows, const Tensor& out) {
    const auto scope = arena.scope();
    const std::int64_t n = batch.n_tokens;
    nn::Backend& backend = bench_.device();
    const auto norm = [&](std::size_t i) {
      return nn::Norm{weights_[i].device, biases_[i].device, 1e-5f};
    };
    nn::Encoder whole;
    whole.table = table_.device;
    for (std::size_t i = 0; i < n_layers_; ++i)
      whole.blocks.push_back({&device_[4 * i], &device_[4 * i + 1], &device_[4 * i + 2],
                              &device_[4 * i + 3], norm(2 * i), norm(2 * i + 1)});
    whole.final_norm = norm(2 * n_layers_);
    whole.n_heads = n_heads_;
    whole.rotary = {angles_.device};
    whole.scale = 0.25f;
    whole.x = arena.take(DType::f32, {n, d_});
    whole.h = arena.take(backend.operand(), {n, d_});
    if (!backend.encode(whole, batch)) return false;
    backend.gather_rows(out, whole.x, rows);
    return true;
  }

  const std::vector<nn::Linear>& host() const { return host_; }
  const std::vector<nn::Linear>& device() const { return device_; }

 private:
  Bench& bench_;
  const std::int64_t n_heads_, d_;
  const std::size_t n_layers_;
  Pair table_, angles_;
  std::vector<Pair> weights_, biases_, linear_weights_, linear_biases_;
  std::vector<nn::Linear> host_, device_;
};

// Runs the encoder three times: at once, recorded, replayed; all against the reference.
void check_captured(Precision precision, std::int64_t n_heads, std::int64_t h,
                    const std::vector<std::int32_t>& lengths, bool whole = false) {
  // Two layers round some ten times: 80 roundings of fp32, 12 of fp16 and of bf16, of numbers near
  // one.
  const double bound = precision == Precision::fp32   ? 80 * 0x1p-22
                       : precision == Precision::fp16 ? 12 * 0x1p-11
                                                      : 12 * 0x1p-8;
  Bench bench(precision);
  Encoder encoder(bench, n_heads, h);
  const auto batch = test::upload(bench, lengths, 33);
  const std::int64_t n = batch.host.starts.back();
  const std::size_t bytes = static_cast<std::size_t>(n * encoder.d()) * 4 * 10 + 65536;
  nn::Arena host_arena(bench.reference().allocate(bytes), bytes);
  nn::Arena device_arena(bench.device().allocate(bytes), bytes);
  std::vector<std::int32_t> all(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::int32_t>(all.size() - 1 - i);
  const Tensor host_rows(all.data(), DType::i32, {n});
  const Tensor device_rows(bench.device().allocate(4 * all.size()), DType::i32, {n});
  bench.device().copy_in(device_rows, all.data());
  const Pair out = bench.empty({n, encoder.d()}, false);
  encoder.forward(bench.reference(), batch.host, encoder.host(), host_arena, host_rows, out.host,
                  [](const Pair& x) { return x.host; });
  for (int run = 0; run < 3; ++run) {
    bench.device().clear(out.device);
    bench.device().run_captured(5, [&] {
      if (whole) {
        CHECK(encoder.encode(batch.device, device_arena, device_rows, out.device));
        return;
      }
      encoder.forward(bench.device(), batch.device, encoder.device(), device_arena, device_rows,
                      out.device, [](const Pair& x) { return x.device; });
    });
    UNSCOPED_INFO(bench.difference(out));
    CHECK(bench.difference(out) < bound);
    CHECK(bench.device().captured_seconds() > 0);
  }
}

}  // namespace

TEST_CASE("nn.captured: passes become graphs", "[nn][device]") {
  if (!test::has_gpu()) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::fp16, Precision::bf16);
  check_captured(precision, 2, 16, {70, 1, 33});
  check_captured(precision, 2, 32, {5, 40});
}

TEST_CASE("nn.small_encoder: an encoder over few tokens equals its operations", "[nn][device]") {
  if (!test::has_gpu()) return;
  const bool emulated = test::is_emulated();
  if (!emulated && !gpu::has_warpgroups()) return;
  // ESM-2 8M's shape, which is the one that devices have.
  check_captured(Precision::bf16, 20, 16, {41}, true);
  if (!emulated) {
    check_captured(Precision::fp16, 20, 16, {100, 1, 50, 33}, true);
    check_captured(Precision::fp16, 20, 16, {256}, true);
  } else if (gpu::has_warpgroups()) {
    check_captured(Precision::fp16, 20, 16, {33, 1, 16}, true);
  } else {
    check_captured(Precision::fp16, 20, 8, {70, 1, 33}, true);
    check_captured(Precision::fp16, 20, 24, {20}, true);
  }
}

TEST_CASE("nn.small_encoder: launches of all depths and sizes share the room of one backend",
          "[nn][device]") {
  if (!test::has_gpu()) return;
  const bool emulated = test::is_emulated();
  if (!emulated && !gpu::has_warpgroups()) return;
  const std::int64_t h = gpu::has_warpgroups() ? 16 : 8;
  Bench bench(Precision::fp16);
  Encoder shallow(bench, 20, h, 2), deep(bench, 20, h, emulated ? 4 : 7);
  // Few groups behind many; lengths of which the launch has more groups than it needs.
  std::vector<std::vector<std::int32_t>> batches = {{20}, {7, 16}};
  if (!emulated) batches = {{256}, {20}, {16, 32, 16, 48}, {100, 1, 50, 33}, {20}};
  for (const std::vector<std::int32_t>& lengths : batches) {
    for (Encoder* const encoder : {&deep, &shallow, &deep}) {
      const auto batch = test::upload(bench, lengths, 33);
      const std::int64_t n = batch.host.starts.back();
      const std::size_t bytes = static_cast<std::size_t>(n * encoder->d()) * 4 * 10 + 65536;
      nn::Arena host_arena(bench.reference().allocate(bytes), bytes);
      nn::Arena device_arena(bench.device().allocate(bytes), bytes);
      std::vector<std::int32_t> all(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
      const Tensor device_rows(bench.device().allocate(4 * all.size()), DType::i32, {n});
      bench.device().copy_in(device_rows, all.data());
      const Pair out = bench.empty({n, encoder->d()}, false);
      encoder->forward(bench.reference(), batch.host, encoder->host(), host_arena,
                       Tensor(all.data(), DType::i32, {n}), out.host,
                       [](const Pair& x) { return x.host; });
      REQUIRE(encoder->encode(batch.device, device_arena, device_rows, out.device));
      CHECK(bench.difference(out) < 6 * encoder->n_layers() * 0x1p-11);  // roundings of a layer
    }
  }
}
