#include "lib/ops/convolution/conv1d.hpp"

#include "lib/models/base/pass.hpp"
#include "lib/ops/convolution/conv_weights.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

struct Shape {
  std::int64_t taps, stride, n_in, n_out;
};

// Sums of k products, as ops.gemm's. Matrix cores cut off what they add to a sum: of 3 k / 16
// additions each loses half of 2^-23 on average, always towards zero, of a sum of up to 4 spreads.
double conv_bound(const Bed& bed, std::int64_t k) {
  const double n = static_cast<double>(std::max<std::int64_t>(k, bed.is_cpu() ? 40 : 280));
  if (bed.is_cpu()) return 4e-7 * std::sqrt(n);
  return 6e-7 * std::sqrt(n) + 3.0 / 16 * static_cast<double>(k) * 4 * 0x1p-24;
}

std::vector<std::int32_t> shortened(std::vector<std::int32_t> lengths, std::int64_t stride) {
  for (std::int32_t& length : lengths)
    length = (length + static_cast<std::int32_t>(stride) - 1) / static_cast<std::int32_t>(stride);
  return lengths;
}

}  // namespace

TEST_CASE("ops.conv1d: taps, strides, ends of segments, all results", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Shape of = GENERATE(Shape{5, 1, 40, 33}, Shape{1, 1, 24, 64}, Shape{3, 2, 16, 40},
                            Shape{15, 1, 8, 36}, Shape{1, 2, 8, 8}, Shape{5, 3, 72, 97});
  const bool residual = GENERATE(false, true);
  // Shorter than the taps, of one row, and longer than a tile.
  const std::vector<std::int32_t> lengths{2, 41, 1, 0, 150};
  const test::RaggedPair in = bed.segments(lengths),
                         out = bed.segments(shortened(lengths, of.stride));
  const std::int64_t m = out.host.n_rows;
  const test::LinearPair weights = bed.linear(of.n_out, of.taps * of.n_in);
  const Pair x = bed.random({194, of.n_in}, 1.0f, true);
  const Pair scale = bed.random({of.n_out}, 0.5f, false), shift = bed.random({of.n_out}, 1, false);
  const Pair y =
      residual ? bed.random({m, of.n_out}, 1.0f, false) : bed.unset({m, of.n_out}, false);
  const Pair next = bed.unset({m, of.n_out}, true);
  const auto run = [&](tensor::Context& context, const auto& get, const auto& linear,
                       const tensor::Ragged& from, const tensor::Ragged& to) {
    ops::conv1d(context, {get(x),
                          &linear,
                          of.taps,
                          of.stride,
                          &from,
                          &to,
                          residual ? get(y) : tensor::Tensor(),
                          get(y),
                          {get(scale), get(shift), ops::Activation::gelu_sigmoid, get(next)}});
  };
  run(
      bed.reference(), [](const Pair& p) { return p.host; }, weights.host, in.host, out.host);
  run(
      bed.device(), [](const Pair& p) { return p.device; }, weights.device, in.device, out.device);
  const double bound = conv_bound(bed, of.taps * of.n_in);
  CHECK(bed.difference(y) < bound);
  CHECK(bed.difference(next) < (bed.is_cpu() ? 2 * bound : bed.operand_bound()));
}

TEST_CASE("ops.conv1d: one result alone, without a bias", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t taps = GENERATE(1, 5);
  const bool activated = GENERATE(false, true);
  const test::RaggedPair segments = bed.segments({30, 7});
  const Pair weight = bed.random({24, taps * 16}, 0.3f, true), x = bed.random({37, 16}, 1, true);
  const tensor::Linear host = bed.reference().upload_linear(weight.host, {});
  const tensor::Linear device = bed.device().upload_linear(weight.host, {});
  const Pair out = bed.unset({37, 24}, activated);
  const tensor::Tensor none;
  const auto result = [&](const tensor::Tensor& to) {
    return ops::Activated{{}, {}, ops::Activation::relu, activated ? to : none};
  };
  ops::conv1d(bed.reference(), {x.host,
                                &host,
                                taps,
                                1,
                                &segments.host,
                                nullptr,
                                {},
                                activated ? none : out.host,
                                result(out.host)});
  ops::conv1d(bed.device(), {x.device,
                             &device,
                             taps,
                             1,
                             &segments.device,
                             nullptr,
                             {},
                             activated ? none : out.device,
                             result(out.device)});
  CHECK(bed.difference(out) <
        (activated && !bed.is_cpu() ? bed.operand_bound() : conv_bound(bed, taps * 16)));
}

// Sizes that fill a device with Hopper's tiles, and segments that do not; the emulated one is
// small.
TEST_CASE("ops.conv1d: large convolutions, segment by segment", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool small = bed.is_cpu() || gpu_backend_name() == "emulated";
  const std::int64_t taps = GENERATE(1, 3, 5), n_in = 128, n_out = small ? 136 : 1032;
  const bool residual = GENERATE(false, true);
  const std::vector<std::int32_t> lengths{small ? 130 : 2100, 9, small ? 257 : 2048};
  const test::RaggedPair all = bed.segments(lengths);
  const test::RaggedPair one = bed.segments({lengths[2]});
  const std::int64_t m = all.host.n_rows, begin = all.host.begin(2);
  const test::LinearPair weights = bed.linear(n_out, taps * n_in);
  const Pair x = bed.random({m, n_in}, 1.0f, true);
  const Pair scale = bed.random({n_out}, 0.1f, false), shift = bed.random({n_out}, 1, false);
  const Pair before = bed.random({m, n_out}, 1.0f, false);
  const Pair y = bed.unset({m, n_out}, false), next = bed.unset({m, n_out}, true);
  const Pair part = bed.unset({m - begin, n_out}, false),
             part_next = bed.unset({m - begin, n_out}, true);
  const auto run = [&](tensor::Context& context, const auto& get, const auto& linear,
                       const tensor::Ragged& rows, const tensor::Tensor& from,
                       const tensor::Tensor& added, const Pair& to, const Pair& to_next) {
    ops::conv1d(context, {from,
                          &linear,
                          taps,
                          1,
                          &rows,
                          nullptr,
                          residual ? added : tensor::Tensor(),
                          get(to),
                          {get(scale), get(shift), ops::Activation::gelu_sigmoid, get(to_next)}});
  };
  const auto host = [](const Pair& p) { return p.host; };
  const auto device = [](const Pair& p) { return p.device; };
  run(bed.reference(), host, weights.host, all.host, x.host, before.host, y, next);
  run(bed.device(), device, weights.device, all.device, x.device, before.device, y, next);
  CHECK(bed.difference(y) < conv_bound(bed, taps * n_in));
  CHECK(bed.difference(next) <
        2 * conv_bound(bed, taps * n_in) + (bed.is_cpu() ? 0 : bed.operand_bound()));
  run(bed.device(), device, weights.device, one.device, x.device.slice(0, begin, m),
      before.device.slice(0, begin, m), part, part_next);
  CHECK(bed.fetch(y.device.slice(0, begin, m)) == bed.fetch(part.device));
  CHECK(bed.fetch(next.device.slice(0, begin, m)) == bed.fetch(part_next.device));
}

// The device repeats a pass by its key: kernels were chosen by the lengths of segments.
TEST_CASE("ops.conv1d: large segments in another order are another pass", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool small = bed.is_cpu() || gpu_backend_name() == "emulated";
  const std::int64_t n_in = 64, n_out = small ? 136 : 1032;
  const std::int32_t n_long = small ? 40 : 2100, n_short = 9, m = n_long + n_short;
  const test::LinearPair weights = bed.linear(n_out, 3 * n_in);
  const Pair x = bed.random({m, n_in}, 1.0f, true), y = bed.unset({m, n_out}, false);
  const std::size_t bytes = static_cast<std::size_t>(m * n_out) * 4 + 65536;
  void* const memory = bed.device().allocate(bytes);
  const auto convolve = [&](const tensor::Ragged& rows, const tensor::Tensor& to) {
    ops::conv1d(bed.device(), {x.device, &weights.device, 3, 1, &rows, nullptr, {}, to, {}});
  };
  const auto run = [&](std::int32_t first) {
    tensor::Arena arena(memory, bytes);
    models::Outputs outputs;
    models::Pass pass(bed.device(), arena, outputs);
    const tensor::Ragged rows = pass.segments({0, first, m});
    const tensor::Tensor to = pass.output("y", {m, n_out});
    pass.run([&] { convolve(rows, to); });
    const io::SharedArray& values = outputs.at("y").values;
    return std::vector<float>(values.begin(), values.end());
  };
  for (int pass = 0; pass < 3; ++pass) run(n_long);  // recorded, repeated
  const std::vector<float> got = run(n_short);
  const test::RaggedPair other = bed.segments({n_short, n_long});
  convolve(other.device, y.device);
  CHECK(got == bed.fetch(y.device));
  bed.device().release(memory);
}

// What lets a change of a few letters be computed from a few rows alone.
TEST_CASE("ops.conv1d: a row has the same bytes in a short segment", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool small = bed.is_cpu() || gpu_backend_name() == "emulated";
  // The emulated device has two multiprocessors: three tiles of the long segment suit Hopper's
  // products, the one of the short segment does not.
  const std::int64_t taps = GENERATE(1, 5), n_in = 128, n_out = small ? 128 : 1032;
  const std::int32_t n_long = small ? 300 : 2100, n_short = 75, first = 130;
  const test::RaggedPair whole = bed.segments({n_long}), part = bed.segments({n_short});
  const test::LinearPair weights = bed.linear(n_out, taps * n_in);
  const Pair x = bed.random({n_long, n_in}, 1.0f, true);
  const bool activated = GENERATE(false, true);  // one result alone, either
  const Pair y = bed.unset({n_long, n_out}, activated),
             y_part = bed.unset({n_short, n_out}, activated);
  const auto run = [&](const tensor::Ragged& rows, const tensor::Tensor& from, const Pair& to) {
    const tensor::Tensor none;
    ops::conv1d(bed.device(),
                {from,
                 &weights.device,
                 taps,
                 1,
                 &rows,
                 nullptr,
                 {},
                 activated ? none : to.device,
                 {{}, {}, ops::Activation::gelu_sigmoid, activated ? to.device : none}});
  };
  run(whole.device, x.device, y);
  run(part.device, x.device.slice(0, first, first + n_short), y_part);
  const std::int64_t edge = taps / 2;
  CHECK(bed.fetch(y.device.slice(0, first + edge, first + n_short - edge)) ==
        bed.fetch(y_part.device.slice(0, edge, n_short - edge)));
}

TEST_CASE("ops.conv1d: a segment has the same bytes alone and behind others", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t stride = GENERATE(1, 2);
  const auto shorter = [&](std::int64_t n) { return (n + stride - 1) / stride; };
  const test::LinearPair weights = bed.linear(40, 5 * 16);
  const Pair x = bed.random({173, 16}, 1.0f, true);
  const std::vector<std::int32_t> lengths{70, 33, 70};
  const test::RaggedPair all = bed.segments(lengths),
                         all_out = bed.segments(shortened(lengths, stride));
  const test::RaggedPair one = bed.segments({33}), one_out = bed.segments(shortened({33}, stride));
  const std::int64_t m = all_out.host.n_rows, begin = shorter(70), n = shorter(33);
  const Pair whole = bed.unset({m, 40}, false), part = bed.unset({n, 40}, false);
  const Pair whole_next = bed.unset({m, 40}, true), part_next = bed.unset({n, 40}, true);
  ops::conv1d(bed.device(), {x.device,
                             &weights.device,
                             5,
                             stride,
                             &all.device,
                             &all_out.device,
                             {},
                             whole.device,
                             {{}, {}, ops::Activation::relu, whole_next.device}});
  ops::conv1d(bed.device(), {x.device.slice(0, 70, 103),
                             &weights.device,
                             5,
                             stride,
                             &one.device,
                             &one_out.device,
                             {},
                             part.device,
                             {{}, {}, ops::Activation::relu, part_next.device}});
  const auto same = [&](const Pair& of_all, const Pair& alone) {
    return bed.fetch(of_all.device.slice(0, begin, begin + n)) == bed.fetch(alone.device);
  };
  CHECK(same(whole, part));
  CHECK(same(whole_next, part_next));
}

TEST_CASE("ops.conv1d: PyTorch's weights, counted by hand", "[ops]") {
  // Weight [1, 2, 3] of channels times taps; rows (1, 10), (2, 20), (3, 30).
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<float> packed =
      ops::conv1d_weight(tensor::Tensor(values.data(), tensor::DType::f32, {1, 2, 3}));
  CHECK(packed == std::vector<float>{1, 4, 2, 5, 3, 6});
  const auto reference = ops::make_reference_context();
  std::vector<float> weight = packed, x{1, 10, 2, 20, 3, 30}, out(3);
  const tensor::Linear linear = reference->upload_linear(
      tensor::Tensor(weight.data(), tensor::DType::f32, {1, 6}), tensor::Tensor());
  tensor::Arena arena(reference->allocate(4096), 4096);
  const tensor::Ragged rows = reference->upload_ragged({0, 3}, arena);
  ops::conv1d(*reference, {tensor::Tensor(x.data(), tensor::DType::f32, {3, 2}),
                           &linear,
                           3,
                           1,
                           &rows,
                           nullptr,
                           {},
                           tensor::Tensor(out.data(), tensor::DType::f32, {3, 1}),
                           {}});
  // Of the first row: 1 * 2 + 10 * 5 + 2 * 3 + 20 * 6.
  CHECK(out == std::vector<float>{178, 334, 238});
}
