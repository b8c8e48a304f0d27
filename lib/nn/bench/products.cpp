// Matrix products and attention.
#include <fmt/format.h>

#include <cmath>

#include "lib/nn/bench/op_bench.hpp"

namespace biogpu::nn {

void OpBench::run_products(const Batch& batch) {
  const std::int64_t d = shape_.d;
  run_product("gemm qkv + rotary", d, 3 * d, Activation::none, false, &batch);
  run_product("gemm + bias + residual", d, d, Activation::none, true, nullptr);
  run_product("gemm + bias + gelu", d, 4 * d, Activation::gelu_erf, false, nullptr);
  run_product("gemm + bias + residual", 4 * d, d, Activation::none, true, nullptr);
  run_product("gemm words", d, kWords, Activation::none, false, nullptr);
}

void OpBench::run_product(const char* name, std::int64_t n_in, std::int64_t n_out,
                          Activation activation, bool residual, const Batch* rotated) {
  if (!wanted(name)) return;
  const bool narrow = residual && shape_.stream_of_operands;
  const bool wide = (residual && !narrow) || n_out == kWords;
  const Both x = make({n_tokens_, n_in}, 1, true);
  const Both weight = make({n_out, n_in}, 0.05f, true), bias = make({n_out}, 1, false);
  const Both out = make({n_tokens_, n_out}, 1, !wide);
  const Linear linear = backend_.upload_linear(weight.host, bias.host);
  const Linear host = reference_->upload_linear(weight.host, bias.host);
  const std::int64_t n_rows = 2;
  std::vector<float> room(static_cast<std::size_t>(n_rows * n_out));
  const Tensor expected(room.data(), DType::f32, {n_rows, n_out});
  std::function<void()> run;
  if (rotated != nullptr) {
    const std::int64_t h = shape_.d / shape_.n_heads;
    const Both angles = make({shape_.length, h}, 1, false);
    run = [=, this] {
      backend_.qkv_rotary({x.device, &linear, shape_.n_heads, {angles.device}, out.device},
                          *rotated);
    };
    Batch first;
    first.starts = {0, static_cast<std::int32_t>(n_rows)};
    std::vector<std::int32_t> positions{0, 1};
    first.positions = Tensor(positions.data(), DType::i32, {n_rows});
    reference_->qkv_rotary({x.host_rows(0, n_rows), &host, shape_.n_heads, {angles.host}, expected},
                           first);
  } else {
    // The residual is another tensor than the sum, or repeated runs would add to it.
    const Both before = residual ? make({n_tokens_, n_out}, 1, narrow) : Both{};
    const Gemm op{x.device, &linear, activation, before.device, out.device};
    run = [=, this] {
      Gemm mine = op;
      mine.linear = &linear;
      backend_.gemm(mine);
    };
    reference_->gemm({x.host_rows(0, n_rows), &host, activation,
                      residual ? before.host_rows(0, n_rows) : Tensor(), expected});
  }
  run();
  const double its_error = error(out.device, expected);
  const auto operand = static_cast<double>(bytes_of(backend_.operand()));
  const auto m = static_cast<double>(n_tokens_), n = static_cast<double>(n_out),
             k = static_cast<double>(n_in);
  add(name, fmt::format("{} x {} x {}", n_tokens_, n_out, n_in),
      operand * (m * k + n * k) + (wide ? 4 : operand) * m * n * (residual ? 2 : 1), 2 * m * n * k,
      its_error, run);
  backend_.synchronize();
  reference_ = make_reference_backend();
}

void OpBench::run_attention(const Batch& batch, bool with_bias) {
  const char* const name = with_bias ? "attention + bias" : "attention";
  if (!wanted(name) || (with_bias && shape_.d > 1280)) return;
  const std::int64_t d = shape_.d, n_heads = shape_.n_heads, h = d / n_heads, n = shape_.length;
  const Both qkv = make({n_tokens_, 3 * d}, 1, true), out = make({n_tokens_, d}, 1, true);
  const Both bias = with_bias ? make({1, n_heads, n, n}, 1, true) : Both{};
  const auto part = [&](const Tensor& all, std::int64_t i, std::int64_t heads) {
    Tensor x = all.slice(1, i * d, i * d + heads * h);
    x.rank = 3;
    x.shape = {all.shape[0], heads, h};
    x.stride = {all.stride[0], h, 1};
    return x;
  };
  const float scale = 1 / std::sqrt(static_cast<float>(h));
  const Attention op{part(qkv.device, 0, n_heads),
                     part(qkv.device, 1, n_heads),
                     part(qkv.device, 2, n_heads),
                     scale,
                     bias.device,
                     out.device,
                     {}};
  backend_.attention(op, batch);
  // The reference computes the first head of the first sequence.
  Batch first;
  first.n_sequences = 1;
  first.max_length = n;
  first.starts = {0, static_cast<std::int32_t>(n)};
  std::vector<float> room(static_cast<std::size_t>(n * h));
  const Tensor expected(room.data(), DType::f32, {n, h});
  reference_->attention({part(qkv.host, 0, 1),
                         part(qkv.host, 1, 1),
                         part(qkv.host, 2, 1),
                         scale,
                         with_bias ? bias.host.slice(1, 0, 1) : Tensor(),
                         expected,
                         {}},
                        first);
  const double its_error = error(out.device.slice(1, 0, h), expected);
  const auto operand = static_cast<double>(bytes_of(backend_.operand()));
  const auto pairs = static_cast<double>(shape_.n_sequences * n * n * n_heads);
  add(name, fmt::format("{} x {}, {} heads of {}", shape_.n_sequences, n, n_heads, h),
      operand * 4 * static_cast<double>(n_tokens_ * d) + (with_bias ? operand * pairs : 0),
      4 * pairs * static_cast<double>(h), its_error, [&, op] { backend_.attention(op, batch); });
}

}  // namespace biogpu::nn
