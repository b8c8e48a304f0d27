#include "lib/ops/gemm/gemm.hpp"

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

// Sums of k fp32 products, whose error grows as the root of k; GPUs add products of 16-bit numbers,
// three for one where operands are fp32.
double sum_bound(const Bed& bed, std::int64_t k) {
  return bed.is_cpu() ? 3.2e-7 * std::sqrt(static_cast<double>(std::max<std::int64_t>(k, 40)))
                      : 1e-5;
}

}  // namespace

TEST_CASE("ops.gemm: every epilogue", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t m = GENERATE(1, 13, 63, 130), n = GENERATE(33, 64, 97), k = GENERATE(40, 96);
  const test::LinearPair weights = bed.linear(n, k);
  const Pair x = bed.random({m, k}, 1.0f, true);
  const auto run = [&](ops::Activation activation, const Pair* residual, const Pair& out) {
    ops::gemm(bed.reference(), {x.host, &weights.host, activation,
                                residual == nullptr ? tensor::Tensor() : residual->host, out.host});
    ops::gemm(bed.device(),
              {x.device, &weights.device, activation,
               residual == nullptr ? tensor::Tensor() : residual->device, out.device});
  };
  SECTION("bias") {
    const Pair out = bed.unset({m, n}, false);
    run(ops::Activation::none, nullptr, out);
    CHECK(bed.difference(out) < sum_bound(bed, k));
  }
  SECTION("bias, activation, operands out") {
    const Pair out = bed.unset({m, n}, true);
    run(ops::Activation::gelu_erf, nullptr, out);
    CHECK(bed.difference(out) < (bed.is_cpu() ? sum_bound(bed, k) : bed.operand_bound()));
  }
  SECTION("bias and residual, in place") {
    const Pair out = bed.random({m, n}, 1.0f, false);
    run(ops::Activation::none, &out, out);
    CHECK(bed.difference(out) < sum_bound(bed, k));
  }
  SECTION("bias and residual of operands, in place") {
    const Pair out = bed.random({m, n}, 1.0f, true);
    run(ops::Activation::none, &out, out);
    CHECK(bed.difference(out) < (bed.is_cpu() ? sum_bound(bed, k) : 2 * bed.operand_bound()));
  }
  SECTION("bias and residual of operands, elsewhere") {
    const Pair out = bed.unset({m, n}, true), residual = bed.random({m, n}, 1.0f, true);
    run(ops::Activation::none, &residual, out);
    CHECK(bed.difference(out) < (bed.is_cpu() ? sum_bound(bed, k) : 2 * bed.operand_bound()));
  }
}

TEST_CASE("ops.gemm: sizes below a tile and without a bias", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n = GENERATE(1, 31), k = bed.is_cpu() ? GENERATE(1, 40) : GENERATE(8, 40);
  const Pair weight = bed.random({n, k}, 0.3f, true), x = bed.random({5, k}, 1.0f, true);
  const tensor::Linear host = bed.reference().upload_linear(weight.host, {});
  const tensor::Linear device = bed.device().upload_linear(weight.host, {});
  const Pair out = bed.unset({5, n}, false);
  ops::gemm(bed.reference(), {x.host, &host, ops::Activation::none, {}, out.host});
  ops::gemm(bed.device(), {x.device, &device, ops::Activation::none, {}, out.device});
  CHECK(bed.difference(out) < sum_bound(bed, k));
}

// Numbers of 16 bits have few digits below 2^-14.
TEST_CASE("ops.gemm: weights of any size keep their digits in fp32", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (bed.precision() != tensor::Precision::fp32) return;
  const float size = GENERATE(1e-30f, 1e-6f, 1e-2f, 1.0f, 1e6f);
  const std::int64_t m = 40, n = 64, k = 72;
  const Pair weight = bed.random({n, k}, size, false), x = bed.random({m, k}, 1.0f, true);
  const tensor::Linear host = bed.reference().upload_linear(weight.host, {});
  const tensor::Linear device = bed.device().upload_linear(weight.host, {});
  const Pair out = bed.unset({m, n}, false);
  ops::gemm(bed.reference(), {x.host, &host, ops::Activation::none, {}, out.host});
  ops::gemm(bed.device(), {x.device, &device, ops::Activation::none, {}, out.device});
  CHECK(bed.difference(out) < 3e-6);
}

// Of a size that goes to the vendor's library where there is one; the larger fills an H200: our own
// kernel where it is added to in place.
TEST_CASE("ops.gemm: larger products with a residual", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (!bed.is_cpu() && gpu_backend_name() == "emulated") return;
  const bool operands = GENERATE(false, true), in_place = GENERATE(false, true);
  const auto [m, n, k] = GENERATE(
      table<std::int64_t, std::int64_t, std::int64_t>({{300, 256, 264}, {2100, 1280, 72}}));
  const test::LinearPair weights = bed.linear(n, k);
  const Pair x = bed.random({m, k}, 1.0f, true), out = bed.random({m, n}, 1.0f, operands);
  const Pair other = bed.random({m, n}, 1.0f, operands);
  const Pair& residual = in_place ? out : other;
  ops::gemm(bed.reference(),
            {x.host, &weights.host, ops::Activation::none, residual.host, out.host});
  ops::gemm(bed.device(),
            {x.device, &weights.device, ops::Activation::none, residual.device, out.device});
  CHECK(bed.difference(out) < (operands && !bed.is_cpu() ? 2 * bed.operand_bound() : 2e-5));
}

TEST_CASE("ops.gemm: a row's product does not depend on the other rows", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::LinearPair weights = bed.linear(96, 64);
  const Pair x = bed.random({300, 64}, 1.0f, true);
  const Pair whole = bed.unset({300, 96}, false), part = bed.unset({5, 96}, false);
  ops::gemm(bed.device(), {x.device, &weights.device, ops::Activation::none, {}, whole.device});
  ops::gemm(bed.device(),
            {x.device.slice(0, 200, 205), &weights.device, ops::Activation::none, {}, part.device});
  const auto all = bed.fetch(whole.device), some = bed.fetch(part.device);
  CHECK(std::equal(some.begin(), some.end(), all.begin() + 200 * 96));
}

TEST_CASE("ops.gemm: activations over their whole range", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const ops::Activation activation =
      GENERATE(ops::Activation::gelu_erf, ops::Activation::gelu_sigmoid, ops::Activation::gelu_tanh,
               ops::Activation::relu, ops::Activation::softplus);
  // GPUs take inputs of 8 columns or more: the others are zeros.
  std::vector<float> values(8 * 4096, 0.0f), ones(8, 0.0f);
  for (std::size_t i = 0; i < 4096; ++i) values[8 * i] = -48 + static_cast<float>(i) * 0x3p-7f;
  ones[0] = 1;
  const bool wide = bed.is_cpu() || bed.precision() == tensor::Precision::fp32;
  const Pair x = bed.pair({4096, 8}, values, true), one = bed.pair({1, 8}, ones, true);
  const tensor::Linear host = bed.reference().upload_linear(one.host, {});
  const tensor::Linear device = bed.device().upload_linear(one.host, {});
  const Pair out = bed.unset({4096, 1}, !wide);
  ops::gemm(bed.reference(), {x.host, &host, activation, {}, out.host});
  ops::gemm(bed.device(), {x.device, &device, activation, {}, out.device});
  const auto got = bed.fetch(out.device), given = bed.fetch(x.device);
  double apart = 0, relative = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto right = static_cast<double>(out.values[i]);
    // Of 16-bit inputs, those that are rounded are left out.
    if (given[8 * i] != values[8 * i]) continue;
    apart = test::worse_of(apart, std::fabs(static_cast<double>(got[i]) - right) /
                                      std::max(1.0, std::fabs(static_cast<double>(values[8 * i]))));
    if (right > 1e-30)
      relative = test::worse_of(relative, std::fabs(static_cast<double>(got[i]) / right - 1));
  }
  CHECK(apart <= (wide ? 3e-7 : bed.operand_bound()));
  // Small results of softplus keep their digits; tracks of a model may be small throughout.
  if (activation == ops::Activation::softplus && wide) CHECK(relative < 3e-6);
}

TEST_CASE("ops.gemm: what does not fit is refused", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::LinearPair weights = bed.linear(7, 5);
  const Pair x = bed.random({3, 5}, 1, true), out = bed.unset({3, 7}, false),
             rows = bed.random({4, 7}, 1, false), wide = bed.unset({3, 14}, false);
  const ops::Gemm right{x.device, &weights.device, ops::Activation::none, {}, out.device};
  const auto refused = [&](test::Context& context, const ops::Gemm& from, const auto& set) {
    ops::Gemm wrong = from;
    set(wrong);
    CHECK_THROWS_AS(ops::gemm(context, wrong), Error);
  };
  const auto refused_here = [&](const auto& set) { refused(bed.device(), right, set); };
  refused_here([](auto& wrong) { wrong.linear = nullptr; });
  refused_here([](auto& wrong) { wrong.x = wrong.x.slice(1, 0, 4); });
  refused_here([](auto& wrong) { wrong.out = wrong.out.slice(1, 0, 6); });
  refused_here([](auto& wrong) { wrong.out = wrong.out.slice(0, 0, 2); });
  refused_here([&](auto& wrong) {
    wrong.out = wide.device.slice(1, 0, 7);
    wrong.out.stride[1] = 2;
  });
  refused_here([&](auto& wrong) { wrong.residual = rows.device; });
  refused_here([&](auto& wrong) {
    wrong.residual = rows.device.slice(0, 0, 3);
    wrong.residual.dtype = tensor::DType::f16;
  });
  refused_here([&](auto& wrong) {
    wrong.residual = rows.device.slice(0, 0, 3);
    wrong.activation = ops::Activation::relu;
  });
  ops::gemm(bed.device(), right);
  const ops::Gemm host{x.host, &weights.host, ops::Activation::none, {}, out.host};
  for (const auto type : {tensor::DType::f16, tensor::DType::bf16}) {
    refused(bed.reference(), host, [&](auto& wrong) { wrong.x.dtype = type; });
    refused(bed.reference(), host, [&](auto& wrong) { wrong.out.dtype = type; });
    if (!bed.is_cpu()) continue;
    refused_here([&](auto& wrong) { wrong.x.dtype = type; });
    refused_here([&](auto& wrong) { wrong.out.dtype = type; });
  }
}
