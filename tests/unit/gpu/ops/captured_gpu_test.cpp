#include <string>
#include <vector>

#include "gpu/rt/tensor_map.hpp"
#include "lib/models/esm2/ops/encoder_8m.hpp"
#include "lib/ops/all_ops.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::DType;
using tensor::Precision;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

// Tokens of both.
struct Tokens {
  Tensor ids, scale;
  tensor::Ragged segments;
};
struct TokenPair {
  test::Indices ids;
  Pair scale;
  Tokens host, device;
};

TokenPair upload(Bed& bed, const std::vector<std::int32_t>& lengths) {
  std::vector<std::int32_t> ids;
  std::vector<float> scale;
  for (const std::int32_t length : lengths)
    for (std::int32_t t = 0; t < length; ++t) {
      ids.push_back((t * 7 + length) % 33);
      scale.push_back(t % 5 == 0 ? 0.0f : 0.88f);
    }
  TokenPair made;
  const auto n = static_cast<std::int64_t>(ids.size());
  made.ids = bed.indices(std::move(ids));
  made.scale = bed.pair({n}, std::move(scale), false);
  const test::RaggedPair segments = bed.segments(lengths);
  made.host = {made.ids.host, made.scale.host, segments.host};
  made.device = {made.ids.device, made.scale.device, segments.device};
  return made;
}

// An encoder of two blocks, as ESM-2's are, on a device and on the reference.
class Encoder {
 public:
  Encoder(Bed& bed, std::int64_t n_heads, std::int64_t h, std::size_t n_layers = 2)
      : bed_(bed), n_heads_(n_heads), d_(n_heads * h), n_layers_(n_layers) {
    table_ = bed.random({33, d_}, 1.0f, false);
    angles_ = bed.random({256, h}, 0.7f, false);
    for (std::size_t i = 0; i < 2 * n_layers + 1; ++i) {
      weights_.push_back(bed.random({d_}, 1.0f, false));
      biases_.push_back(bed.random({d_}, 0.3f, false));
    }
    for (std::size_t i = 0; i < n_layers; ++i) {
      for (const auto& [n_out, n_in] :
           {std::pair(3 * d_, d_), {d_, d_}, {4 * d_, d_}, {d_, 4 * d_}}) {
        linear_weights_.push_back(
            bed.random({n_out, n_in}, 0.3f / std::sqrt(static_cast<float>(n_in)) * 3, true));
        linear_biases_.push_back(bed.random({n_out}, 0.3f, false));
        host_.push_back(
            bed.reference().upload_linear(linear_weights_.back().host, linear_biases_.back().host));
        device_.push_back(
            bed.device().upload_linear(linear_weights_.back().host, linear_biases_.back().host));
      }
    }
  }

  std::int64_t d() const { return d_; }
  double n_layers() const { return static_cast<double>(n_layers_); }

  // Hidden states of the rows asked for, on the reference or on the device.
  template <class Of>
  void forward(tensor::Context& context, const Tokens& batch,
               const std::vector<tensor::Linear>& linears, tensor::Arena& arena, const Tensor& rows,
               const Tensor& out, Of&& of) const {
    const auto scope = arena.scope();
    const std::int64_t n = batch.segments.n_rows;
    const Tensor x = arena.take(DType::f32, {n, d_}),
                 h = arena.take(context.compute_dtype(), {n, d_});
    const Tensor qkv = arena.take(context.compute_dtype(), {n, 3 * d_});
    const Tensor wide = arena.take(context.compute_dtype(), {n, 4 * d_});
    const auto norm = [&](std::size_t i) {
      return tensor::Norm{of(weights_[i]), of(biases_[i]), 1e-5f};
    };
    const auto part = [&](std::int64_t i) {
      return tensor::split_heads(qkv.slice(1, i * d_, (i + 1) * d_), n_heads_);
    };
    ops::embed(context, {of(table_), batch.ids, batch.scale, {}, {}, norm(0), x, {}, h});
    for (std::size_t i = 0; i < n_layers_; ++i) {
      if (i > 0) ops::add_layer_norm(context, {x, {}, norm(2 * i), {}, {}, h});
      ops::qkv_rotary(context,
                      {h, &linears[4 * i], n_heads_, {of(angles_)}, batch.segments.positions, qkv});
      ops::attention(context, {part(0), part(1), part(2), 0.25f, {}, &batch.segments, h, {}});
      ops::gemm(context, {h, &linears[4 * i + 1], ops::Activation::none, x, x});
      ops::add_layer_norm(context, {x, {}, norm(2 * i + 1), {}, {}, h});
      ops::gemm(context, {h, &linears[4 * i + 2], ops::Activation::gelu_erf, {}, wide});
      ops::gemm(context, {wide, &linears[4 * i + 3], ops::Activation::none, x, x});
    }
    ops::add_layer_norm(context, {x, {}, norm(2 * n_layers_), {}, x, h});
    ops::gather_rows(context, {x, rows, out});
  }

  // The same as a whole, where the device has a way for it.
  bool encode(const Tokens& batch, tensor::Arena& arena, const Tensor& rows, const Tensor& out) {
    const auto scope = arena.scope();
    const std::int64_t n = batch.segments.n_rows;
    tensor::Context& context = bed_.device();
    const auto norm = [&](std::size_t i) {
      return tensor::Norm{weights_[i].device, biases_[i].device, 1e-5f};
    };
    models::esm2::Encode8m whole;
    whole.table = table_.device;
    for (std::size_t i = 0; i < n_layers_; ++i)
      whole.blocks.push_back({&device_[4 * i], &device_[4 * i + 1], &device_[4 * i + 2],
                              &device_[4 * i + 3], norm(2 * i), norm(2 * i + 1)});
    whole.final_norm = norm(2 * n_layers_);
    whole.n_heads = n_heads_;
    whole.rotary = {angles_.device};
    whole.score_scale = 0.25f;
    whole.ids = batch.ids;
    whole.scale = batch.scale;
    whole.segments = &batch.segments;
    bool ran = false;
    whole.ran = &ran;
    whole.x = arena.take(DType::f32, {n, d_});
    whole.h = arena.take(context.compute_dtype(), {n, d_});
    models::esm2::encode_8m(context, whole);
    if (!ran) return false;
    ops::gather_rows(context, {whole.x, rows, out});
    return true;
  }

  const std::vector<tensor::Linear>& host() const { return host_; }
  const std::vector<tensor::Linear>& device() const { return device_; }

 private:
  Bed& bed_;
  const std::int64_t n_heads_, d_;
  const std::size_t n_layers_;
  Pair table_, angles_;
  std::vector<Pair> weights_, biases_, linear_weights_, linear_biases_;
  std::vector<tensor::Linear> host_, device_;
};

// Runs the encoder three times: at once, recorded, replayed; all against the reference.
void check_captured(Precision precision, std::int64_t n_heads, std::int64_t h,
                    const std::vector<std::int32_t>& lengths, bool whole = false) {
  // Two layers round some ten times: 80 roundings of fp32, 12 of fp16 and of bf16, of numbers near
  // one.
  const double bound = precision == Precision::fp32   ? 80 * 0x1p-22
                       : precision == Precision::fp16 ? 12 * 0x1p-11
                                                      : 12 * 0x1p-8;
  Bed bed({"gpu", 0, precision});
  Encoder encoder(bed, n_heads, h);
  const auto batch = upload(bed, lengths);
  const std::int64_t n = batch.host.segments.n_rows;
  const std::size_t bytes = static_cast<std::size_t>(n * encoder.d()) * 4 * 10 + 65536;
  tensor::Arena host_arena(bed.reference().allocate(bytes), bytes);
  tensor::Arena device_arena(bed.device().allocate(bytes), bytes);
  std::vector<std::int32_t> all(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::int32_t>(all.size() - 1 - i);
  const Tensor host_rows(all.data(), DType::i32, {n});
  const Tensor device_rows(bed.device().allocate(4 * all.size()), DType::i32, {n});
  bed.device().copy_in(device_rows, all.data());
  const Pair out = bed.unset({n, encoder.d()}, false);
  encoder.forward(bed.reference(), batch.host, encoder.host(), host_arena, host_rows, out.host,
                  [](const Pair& x) { return x.host; });
  for (int run = 0; run < 3; ++run) {
    ops::fill_zero(bed.device(), {out.device});
    bed.device().capture(5, [&] {
      if (whole) {
        CHECK(encoder.encode(batch.device, device_arena, device_rows, out.device));
        return;
      }
      encoder.forward(bed.device(), batch.device, encoder.device(), device_arena, device_rows,
                      out.device, [](const Pair& x) { return x.device; });
    });
    UNSCOPED_INFO(bed.difference(out));
    CHECK(bed.difference(out) < bound);
    CHECK(bed.device().captured_seconds() > 0);
  }
}

}  // namespace

TEST_CASE("ops.captured: passes become graphs", "[ops][device]") {
  if (!test::has_gpu()) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::fp16, Precision::bf16);
  check_captured(precision, 2, 16, {70, 1, 33});
  check_captured(precision, 2, 32, {5, 40});
}

TEST_CASE("ops.encoder_8m: an encoder over few tokens equals its operations", "[ops][device]") {
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

TEST_CASE("ops.encoder_8m: launches of all depths and sizes share the room of one context",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  const bool emulated = test::is_emulated();
  if (!emulated && !gpu::has_warpgroups()) return;
  const std::int64_t h = gpu::has_warpgroups() ? 16 : 8;
  Bed bed({"gpu", 0, Precision::fp16});
  Encoder shallow(bed, 20, h, 2), deep(bed, 20, h, emulated ? 4 : 7);
  // Few groups behind many; lengths of which the launch has more groups than it needs.
  std::vector<std::vector<std::int32_t>> batches = {{20}, {7, 16}};
  if (!emulated) batches = {{256}, {20}, {16, 32, 16, 48}, {100, 1, 50, 33}, {20}};
  for (const std::vector<std::int32_t>& lengths : batches) {
    for (Encoder* const encoder : {&deep, &shallow, &deep}) {
      const auto batch = upload(bed, lengths);
      const std::int64_t n = batch.host.segments.n_rows;
      const std::size_t bytes = static_cast<std::size_t>(n * encoder->d()) * 4 * 10 + 65536;
      tensor::Arena host_arena(bed.reference().allocate(bytes), bytes);
      tensor::Arena device_arena(bed.device().allocate(bytes), bytes);
      std::vector<std::int32_t> all(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
      const Tensor device_rows(bed.device().allocate(4 * all.size()), DType::i32, {n});
      bed.device().copy_in(device_rows, all.data());
      const Pair out = bed.unset({n, encoder->d()}, false);
      encoder->forward(bed.reference(), batch.host, encoder->host(), host_arena,
                       Tensor(all.data(), DType::i32, {n}), out.host,
                       [](const Pair& x) { return x.host; });
      REQUIRE(encoder->encode(batch.device, device_arena, device_rows, out.device));
      CHECK(bed.difference(out) < 6 * encoder->n_layers() * 0x1p-11);  // roundings of a layer
    }
  }
}
