#include "lib/ops/gemm/matmul.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::ops {
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
