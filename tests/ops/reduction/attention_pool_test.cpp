#include "lib/ops/reduction/attention_pool.hpp"

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
                                                      : bed.operand_bound();  // of 72 channels
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

// A size that fills a device with Hopper's tiles, and a segment that does not: two tiles and one
// for the two multiprocessors of the emulated device.
TEST_CASE("ops.attention_pool: large pools, segment by segment", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool small = bed.is_cpu() || gpu_backend_name() == "emulated";
  const std::int32_t n_long = small ? 301 : 4201, n_short = 75, first = 60;
  const std::int64_t d = small ? 128 : 1024, n = n_long + n_short;
  const std::int32_t n_pairs = (n_long + 1) / 2, n_short_pairs = (n_short + 1) / 2;
  const test::RaggedPair in = bed.segments({n_long, n_short}),
                         out = bed.segments({n_pairs, n_short_pairs});
  const Pair weight = bed.random({d, d}, 0.1f, true);
  const tensor::Linear host = bed.reference().upload_linear(weight.host, {});
  const tensor::Linear device = bed.device().upload_linear(weight.host, {});
  const Pair x = bed.random({n, d}, 1.0f, false);
  const Pair scale = bed.random({d}, 0.5f, false), shift = bed.random({d}, 1, false);
  const std::int64_t m = out.host.n_rows;
  const Pair y = bed.unset({m, d}, false), next = bed.unset({m, d}, true);
  const Pair differences = bed.unset({m, d}, true);
  const auto run = [&](tensor::Context& context, const auto& get, const auto& linear,
                       const tensor::Ragged& rows, const tensor::Ragged& pooled) {
    ops::attention_pool(context,
                        {get(x),
                         &linear,
                         &rows,
                         &pooled,
                         get(differences),
                         get(y),
                         {get(scale), get(shift), ops::Activation::gelu_sigmoid, get(next)}});
  };
  run(
      bed.reference(), [](const Pair& p) { return p.host; }, host, in.host, out.host);
  run(
      bed.device(), [](const Pair& p) { return p.device; }, device, in.device, out.device);
  // Errors of the weights' argument, a sum of spread 0.1 sqrt(2 d), grow with it.
  const double bound = (bed.is_cpu() ? 1 : 2) * pool_bound(bed);
  CHECK(bed.difference(y) < bound);
  CHECK(bed.difference(next) < 2 * bound + (bed.is_cpu() ? 0 : bed.operand_bound()));
  // The same rows of x in a short segment.
  const test::RaggedPair part = bed.segments({n_short}), part_out = bed.segments({n_short_pairs});
  const Pair y_part = bed.unset({n_short_pairs, d}, false);
  ops::attention_pool(bed.device(), {x.device.slice(0, first, first + n_short),
                                     &device,
                                     &part.device,
                                     &part_out.device,
                                     differences.device,
                                     y_part.device,
                                     {}});
  CHECK(bed.fetch(y.device.slice(0, first / 2, first / 2 + n_short_pairs - 1)) ==
        bed.fetch(y_part.device.slice(0, 0, n_short_pairs - 1)));
}

// More pairs than Hopper's products take at once: 768 on the emulated device, 6,144 on an H100.
TEST_CASE("ops.attention_pool: large pools piece by piece", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool small = bed.is_cpu() || gpu_backend_name() == "emulated";
  const std::int32_t n = small ? 1701 : 14001, n_pairs = (n + 1) / 2, n_part = 75;
  const std::int32_t boundary = small ? 768 : 6144, n_part_pairs = (n_part + 1) / 2;
  const std::int64_t d = small ? 128 : 1024;
  const Pair weight = bed.random({d, d}, 0.1f, true), x = bed.random({n, d}, 1.0f, false);
  const tensor::Linear linear = bed.device().upload_linear(weight.host, {});
  const Pair scale = bed.random({d}, 0.5f, false), shift = bed.random({d}, 1, false);
  const auto run = [&](const tensor::Tensor& rows, const test::RaggedPair& in,
                       const test::RaggedPair& out, const Pair& y, const Pair& next) {
    const Pair differences = bed.unset({out.host.n_rows, d}, true);
    ops::attention_pool(bed.device(),
                        {rows,
                         &linear,
                         &in.device,
                         &out.device,
                         differences.device,
                         y.device,
                         {scale.device, shift.device, ops::Activation::gelu_sigmoid, next.device}});
  };
  const Pair y = bed.unset({n_pairs, d}, false), next = bed.unset({n_pairs, d}, true);
  run(x.device, bed.segments({n}), bed.segments({n_pairs}), y, next);
  const Pair y_part = bed.unset({n_part_pairs, d}, false),
             next_part = bed.unset({n_part_pairs, d}, true);
  // The last row has no partner in each of them; it has in the whole segment, but for the last.
  for (const std::int32_t first : {0, 2 * boundary - 20, n - n_part}) {
    run(x.device.slice(0, first, first + n_part), bed.segments({n_part}),
        bed.segments({n_part_pairs}), y_part, next_part);
    const std::int32_t n_same = first + n_part == n ? n_part_pairs : n_part_pairs - 1;
    const auto same = [&](const Pair& whole, const Pair& part) {
      return bed.fetch(whole.device.slice(0, first / 2, first / 2 + n_same)) ==
             bed.fetch(part.device.slice(0, 0, n_same));
    };
    CHECK(same(y, y_part));
    CHECK(same(next, next_part));
  }
}
