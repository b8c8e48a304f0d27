// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::ops {

namespace {

void product(OpBench& bench, const char* name, std::int64_t n_in, std::int64_t n_out,
             Activation activation, bool residual) {
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kReferenceRows = 2;
  const std::int64_t t = bench.shape().n_rows();
  const bool narrow = residual && bench.shape().stream_of_operands;
  const bool wide = (residual && !narrow) || n_out == OpBench::kTokens;
  const BenchTensor x = bench.make({t, n_in}, 1, true);
  const BenchTensor weight = bench.make({n_out, n_in}, 0.05f, true);
  const BenchTensor bias = bench.make({n_out}, 1, false), out = bench.make({t, n_out}, 1, !wide);
  const Linear linear = bench.context().upload_linear(weight.host, bias.host);
  const auto reference = make_reference_context();
  const Linear host = reference->upload_linear(weight.host, bias.host);
  std::vector<float> memory(static_cast<std::size_t>(kReferenceRows * n_out));
  const Tensor expected(memory.data(), DType::f32, {kReferenceRows, n_out});
  // The residual is another tensor than the sum, or repeated runs would add to it.
  const BenchTensor before = residual ? bench.make({t, n_out}, 1, narrow) : BenchTensor{};
  const Gemm op{x.device, &linear, activation, before.device, out.device};
  gemm(bench.context(), op);
  gemm(*reference, {x.host_rows(kReferenceRows), &host, activation,
                    residual ? before.host_rows(kReferenceRows) : Tensor(), expected});
  const double operand = bench.operand_bytes();
  const auto m = static_cast<double>(t), n = static_cast<double>(n_out),
             k = static_cast<double>(n_in);
  bench.add(name, fmt::format("{} x {} x {}", t, n_out, n_in),
            operand * (m * k + n * k) + (wide ? 4 : operand) * m * n * (residual ? 2 : 1),
            2 * m * n * k, bench.error(out.device, expected), [&] { gemm(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace

void gemm_bench(OpBench& bench) {
  const std::int64_t d = bench.shape().d;
  product(bench, "gemm + bias + residual", d, d, Activation::none, true);
  product(bench, "gemm + bias + gelu", d, 4 * d, Activation::gelu_erf, false);
  product(bench, "gemm + bias + residual", 4 * d, d, Activation::none, true);
  product(bench, "gemm words", d, OpBench::kTokens, Activation::none, false);
}

namespace {

using tensor::merge_axes;
using tensor::permuted;
using tensor::transposed;

double flops(double batch, double m, double n, double k) { return 2 * batch * m * n * k; }

// The triangle multiplication of outgoing edges, operands and results of channels before or behind
// the pairs.
void triangle(OpBench& bench, const char* name, std::int64_t n, bool channels_last) {
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kChannels = 128, kRows = 2;
  const auto make = [&] {
    return channels_last ? bench.make({n, n, kChannels}, 1, true)
                         : bench.make({kChannels, n, n}, 1, true);
  };
  const BenchTensor a = make(), b = make(), y = make();
  const auto product = [&](tensor::Context& context, Tensor left, Tensor right, Tensor to) {
    if (channels_last) {
      left = permuted(left, {2, 0, 1});
      right = permuted(right, {2, 0, 1});
      to = permuted(to, {2, 0, 1});
    }
    matmul(context, {left, transposed(right), to, 1 / std::sqrt(static_cast<float>(n))});
  };
  product(bench.context(), a.device, b.device, y.device);
  // The first rows of all channels, or of the first channel.
  std::vector<float> memory(static_cast<std::size_t>(kRows * n * kChannels));
  double error = 0;
  if (channels_last) {
    const Tensor expected(memory.data(), DType::f32, {kRows, n, kChannels});
    product(bench.reference(), a.host.slice(0, 0, kRows), b.host, expected);
    error = bench.error(merge_axes(y.device, 1), merge_axes(expected, 1));
  } else {
    const Tensor expected(memory.data(), DType::f32, {1, kRows, n});
    product(bench.reference(), a.host.slice(0, 0, 1).slice(1, 0, kRows), b.host.slice(0, 0, 1),
            expected);
    error = bench.error(merge_axes(y.device.slice(0, 0, 1), 0), merge_axes(expected, 0));
  }
  const auto numbers = static_cast<double>(y.host.size()), size = static_cast<double>(n);
  bench.add(name, fmt::format("{} x {} x {}", kChannels, n, n), 3 * bench.operand_bytes() * numbers,
            flops(kChannels, size, size, size), error,
            [&] { product(bench.context(), a.device, b.device, y.device); });
}

void outer_product(OpBench& bench) {
  const char* const name = "matmul outer product";
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kLength = 128, kSequences = 64, kChannels = 32, kRows = 4;
  constexpr std::int64_t kWidth = kLength * kChannels;
  const BenchTensor a = bench.make({kSequences, kWidth}, 1, true),
                    b = bench.make({kSequences, kWidth}, 1, true),
                    y = bench.make({kWidth, kWidth}, 1, true);
  const Matmul op{transposed(a.device), b.device, y.device, 1.0f / kSequences};
  matmul(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(kRows * kWidth));
  const Tensor expected(memory.data(), DType::f32, {kRows, kWidth});
  matmul(bench.reference(), {transposed(a.host).slice(0, 0, kRows), b.host, expected, op.scale});
  bench.add(name, fmt::format("{} x {} x {} x {}", kSequences, kLength, kLength, kChannels),
            bench.operand_bytes() * (2 * kSequences * kWidth + kWidth * kWidth),
            flops(1, kWidth, kWidth, kSequences), bench.error(y.device, expected),
            [&] { matmul(bench.context(), op); });
}

// Heads of rows [T, H * h], as attention multiplies them.
void heads(OpBench& bench) {
  const char* const name = "matmul heads";
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kHeads = 64, kLength = 128, kWidth = 64;
  const BenchTensor q = bench.make({kLength, kHeads, kWidth}, 1, true),
                    k = bench.make({kLength, kHeads, kWidth}, 1, true),
                    y = bench.make({kHeads, kLength, kLength}, 1, false);
  const auto product = [&](tensor::Context& context, const Tensor& left, const Tensor& right,
                           const Tensor& to) {
    matmul(context, {permuted(left, {1, 0, 2}), permuted(right, {1, 2, 0}), to, 0.125f});
  };
  product(bench.context(), q.device, k.device, y.device);
  std::vector<float> memory(static_cast<std::size_t>(kLength * kLength));
  const Tensor expected(memory.data(), DType::f32, {1, kLength, kLength});
  product(bench.reference(), q.host.slice(1, 0, 1), k.host.slice(1, 0, 1), expected);
  bench.add(name, fmt::format("{} x {} x {} x {}", kHeads, kLength, kLength, kWidth),
            (2 * bench.operand_bytes() * kWidth + 4 * kLength) * kHeads * kLength,
            flops(kHeads, kLength, kLength, kWidth),
            bench.error(merge_axes(y.device.slice(0, 0, 1), 0), merge_axes(expected, 0)),
            [&] { product(bench.context(), q.device, k.device, y.device); });
}

void square(OpBench& bench) {
  const char* const name = "matmul square";
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kSize = 512, kRows = 4;
  const BenchTensor a = bench.make({kSize, kSize}, 1, true),
                    b = bench.make({kSize, kSize}, 1, true),
                    y = bench.make({kSize, kSize}, 1, true);
  const Matmul op{a.device, b.device, y.device, 0.05f};
  matmul(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(kRows * kSize));
  const Tensor expected(memory.data(), DType::f32, {kRows, kSize});
  matmul(bench.reference(), {a.host.slice(0, 0, kRows), b.host, expected, op.scale});
  bench.add(name, fmt::format("{} x {} x {}", kSize, kSize, kSize),
            3 * bench.operand_bytes() * kSize * kSize, flops(1, kSize, kSize, kSize),
            bench.error(y.device, expected), [&] { matmul(bench.context(), op); });
}

}  // namespace

// At shapes of their own, once.
void matmul_bench(OpBench& bench) {
  if (bench.shape().n_segments > 1 || bench.shape().stream_of_operands) return;
  for (const std::int64_t n : {256, 384}) {
    triangle(bench, "matmul triangle", n, false);
    triangle(bench, "matmul triangle channels last", n, true);
  }
  outer_product(bench);
  heads(bench);
  square(bench);
}

}  // namespace biogpu::ops
