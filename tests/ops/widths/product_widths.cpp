#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/convolution/depthwise_conv1d.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/reduction/attention_pool.hpp"
#include "lib/tensor/views.hpp"
#include "tests/ops/widths/sweep.hpp"

namespace biogpu::test {
namespace {

constexpr double kSums = 2e-5;  // of up to 500 products in fp32

// Rows of any distance, a residual, and results in both types.
void sweep_gemm(Bed& bed, std::int64_t width) {
  for (const std::int64_t n_out : {width % 21 + 1, width + 40}) {
    CAPTURE(n_out);
    const Pair wide = bed.random({70, width + 3}, 1, true);
    const LinearPair linear = bed.linear(n_out, width);
    const Pair residual = bed.random({70, n_out}, 1, false);
    const Pair sum = bed.unset({70, n_out}, false), out = bed.unset({70, n_out}, true);
    compare(bed, {{sum, kSums}, {out, operand_result(bed)}}, [&](Context& context, const auto& of) {
      const Tensor x = of(wide).slice(1, 3, width + 3);
      ops::gemm(context, {x, &of(linear), ops::Activation::none, of(residual), of(sum)});
      ops::gemm(context, {x, &of(linear), ops::Activation::gelu_erf, {}, of(out)});
    });
  }
}

// Rows, columns and the summed index of that width, in slices of wider tensors, two of them at
// once.
void sweep_matmul(Bed& bed, std::int64_t width) {
  const Pair a = bed.random({2, 21, width + 1}, 1, true),
             b = bed.random({2, 35, width + 3}, 1, true);
  const Pair scores = bed.unset({2, 21, 35}, false), rows = bed.unset({2, 21, width}, true);
  compare(bed, {{scores, kSums}, {rows, operand_result(bed)}},
          [&](Context& context, const auto& of) {
            const Tensor x = of(a).slice(2, 1, width + 1), y = of(b).slice(2, 3, width + 3);
            ops::matmul(context, {x, tensor::transposed(y), of(scores)});
            ops::matmul(context, {of(a).slice(2, 0, 1), y.slice(1, 4, 5), of(rows)});
          });
}

struct Shape {
  std::int64_t taps;
  std::int32_t stride;
};

void sweep_conv1d(Bed& bed, std::int64_t width) {
  for (const Shape shape : {Shape{1, 1}, Shape{5, 1}, Shape{3, 2}}) {
    CAPTURE(shape.taps, shape.stride);
    const std::int64_t n_out = width % 13 + 2;
    std::vector<std::int32_t> lengths{2, 41, 1, 26}, shorter;
    for (const std::int32_t n : lengths) shorter.push_back((n + shape.stride - 1) / shape.stride);
    const RaggedPair in = bed.segments(lengths), to = bed.segments(shorter);
    const std::int64_t m = to.host.n_rows;
    LinearPair linear;
    linear.weight = bed.random({n_out, shape.taps, width}, 0.2f, true);
    linear.bias = bed.random({n_out}, 0.5f, false);
    linear.host = bed.reference().upload_linear(linear.weight.host, linear.bias.host);
    linear.device = bed.device().upload_linear(linear.weight.host, linear.bias.host);
    const Pair x = bed.random({70, width}, 1, true), residual = bed.random({m, n_out}, 1, false);
    const Pair y = bed.unset({m, n_out}, false), next = bed.unset({m, n_out}, true);
    compare(bed, {{y, kSums}, {next, operand_result(bed)}}, [&](Context& context, const auto& of) {
      ops::conv1d(context, {of(x),
                            &of(linear),
                            shape.taps,
                            shape.stride,
                            &of(in),
                            &of(to),
                            of(residual),
                            of(y),
                            {{}, of(linear.bias), ops::Activation::gelu_tanh, of(next)}});
    });
  }
}

void sweep_conv1d_letters(Bed& bed, std::int64_t n_out) {
  const std::int64_t taps = 5, n = 70;
  const RaggedPair segments = bed.segments({3, 41, 26});
  std::vector<std::uint8_t> codes;
  for (std::int64_t i = 0; i < n; ++i)
    codes.push_back(static_cast<std::uint8_t>((i * i + i / 3) % 6));
  struct {
    Tensor host, device;
  } letters;
  letters.host = letters.device = Tensor(codes.data(), DType::u8, {n});
  letters.device.data = bed.device().allocate(codes.size());
  bed.device().copy_in(letters.device, codes.data());
  const Pair weight = bed.random({n_out, 4, taps}, 0.5f, false);
  const Pair table =
      bed.pair({taps, ops::kLetterCodes, n_out}, ops::letter_table(weight.host), false);
  const Pair bias = bed.random({n_out}, 1, false);
  const Pair y = bed.unset({n, n_out}, false), next = bed.unset({n, n_out}, true);
  compare(bed, {{y, kSums}, {next, operand_result(bed)}}, [&](Context& context, const auto& of) {
    ops::conv1d_letters(context, {of(letters),
                                  of(table),
                                  of(bias),
                                  &of(segments),
                                  of(y),
                                  {of(bias), {}, ops::Activation::gelu_sigmoid, of(next)}});
  });
}

void sweep_depthwise_conv1d(Bed& bed, std::int64_t width) {
  const RaggedPair segments = bed.segments({1, 40, 29});
  const Pair x = bed.random({70, width}, 1, true), weight = bed.random({3, width}, 0.5f, false);
  const Pair y = bed.unset({70, width}, false), next = bed.unset({70, width}, true);
  compare(bed, {{y, kSums}, {next, operand_result(bed)}}, [&](Context& context, const auto& of) {
    ops::depthwise_conv1d(
        context,
        {of(x), of(weight), &of(segments), of(y), {{}, {}, ops::Activation::relu, of(next)}});
  });
}

// The differences of pairs are rounded to operands.
void sweep_attention_pool(Bed& bed, std::int64_t width) {
  const RaggedPair in = bed.segments({1, 40, 29}), to = bed.segments({1, 20, 15});
  const Pair x = bed.random({70, width}, 1, false), room = bed.unset({36, width}, true);
  LinearPair linear;
  linear.weight = bed.random({width, width}, 0.3f, true);
  linear.host = bed.reference().upload_linear(linear.weight.host, {});
  linear.device = bed.device().upload_linear(linear.weight.host, {});
  const Pair y = bed.unset({36, width}, false), next = bed.unset({36, width}, true);
  compare(bed, {{y, operand_result(bed)}, {next, operand_result(bed)}},
          [&](Context& context, const auto& of) {
            ops::attention_pool(context, {of(x),
                                          &of(linear),
                                          &of(in),
                                          &of(to),
                                          of(room),
                                          of(y),
                                          {{}, {}, ops::Activation::gelu_sigmoid, of(next)}});
          });
}

}  // namespace

std::vector<WidthSweep> product_sweeps() {
  return {{"gemm", sweep_gemm},
          {"matmul", sweep_matmul},
          {"conv1d", sweep_conv1d},
          {"conv1d_letters", sweep_conv1d_letters},
          {"depthwise_conv1d", sweep_depthwise_conv1d},
          {"attention_pool", sweep_attention_pool}};
}

}  // namespace biogpu::test
