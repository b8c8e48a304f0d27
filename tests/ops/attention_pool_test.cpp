#include "lib/ops/attention_pool.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

// fp32 operands on GPUs are sums of two numbers; 16-bit ones round the differences, and so the
// weights of the pair, but not the rows.
double pool_bound(const Bed& bed) {
  return bed.is_cpu()                                 ? 3e-6
         : bed.precision() == tensor::Precision::fp32 ? 1e-5
                                                      : bed.operand_bound();
}

}  // namespace

TEST_CASE("ops.attention_pool: pairs of rows, odd segments", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(8, 40, 72);
  const test::RaggedPair in = bed.segments({6, 41, 1, 0, 140}),
                         out = bed.segments({3, 21, 1, 0, 70});
  const Pair weight = bed.random({d, d}, 0.3f, true), x = bed.random({188, d}, 1.0f, false);
  const tensor::Linear host = bed.reference().upload_linear(weight.host, {});
  const tensor::Linear device = bed.device().upload_linear(weight.host, {});
  const Pair scale = bed.random({d}, 0.5f, false), shift = bed.random({d}, 1, false);
  const Pair y = bed.unset({95, d}, false), next = bed.unset({95, d}, true);
  const Pair differences = bed.unset({95, d}, true);
  const bool only_next = GENERATE(false, true);
  const auto result = [&](const tensor::Tensor& to) { return only_next ? tensor::Tensor() : to; };
  ops::attention_pool(bed.reference(),
                      {x.host,
                       &host,
                       &in.host,
                       &out.host,
                       differences.host,
                       result(y.host),
                       {scale.host, shift.host, ops::Activation::gelu_sigmoid, next.host}});
  ops::attention_pool(bed.device(),
                      {x.device,
                       &device,
                       &in.device,
                       &out.device,
                       differences.device,
                       result(y.device),
                       {scale.device, shift.device, ops::Activation::gelu_sigmoid, next.device}});
  CHECK(bed.difference(y) < pool_bound(bed));
  CHECK(bed.difference(next) < 2 * pool_bound(bed) + (bed.is_cpu() ? 0 : bed.operand_bound()));
  if (only_next) return;
  // The last row of an odd segment is copied.
  CHECK(bed.fetch(y.device.slice(0, 23, 24)) == bed.fetch(x.device.slice(0, 46, 47)));
}

TEST_CASE("ops.attention_pool: a segment has the same bytes alone and behind others", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::RaggedPair all = bed.segments({70, 33, 7}), one = bed.segments({33});
  const test::RaggedPair all_out = bed.segments({35, 17, 4}), one_out = bed.segments({17});
  const Pair weight = bed.random({24, 24}, 0.3f, true), x = bed.random({110, 24}, 1.0f, false);
  const tensor::Linear linear = bed.device().upload_linear(weight.host, {});
  const Pair whole = bed.unset({56, 24}, false), part = bed.unset({17, 24}, false);
  const Pair differences = bed.unset({56, 24}, true);
  ops::attention_pool(
      bed.device(),
      {x.device, &linear, &all.device, &all_out.device, differences.device, whole.device, {}});
  ops::attention_pool(bed.device(), {x.device.slice(0, 70, 103),
                                     &linear,
                                     &one.device,
                                     &one_out.device,
                                     differences.device.slice(0, 0, 17),
                                     part.device,
                                     {}});
  CHECK(bed.fetch(whole.device.slice(0, 35, 52)) == bed.fetch(part.device));
}
