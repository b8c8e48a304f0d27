#include "lib/ops/elementwise/fill_zero.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/elementwise/silu.hpp"
#include "lib/ops/elementwise/silu_grad.hpp"
#include "lib/ops/gather/append_rows.hpp"
#include "lib/ops/gather/embed.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"
#include "lib/ops/normalisation/softmax.hpp"
#include "lib/ops/reduction/argmax.hpp"
#include "lib/ops/reduction/max_pool.hpp"
#include "lib/ops/reduction/mean_pool.hpp"
#include "lib/ops/reduction/range_sum.hpp"
#include "lib/ops/reduction/sample.hpp"
#include "lib/tensor/views.hpp"
#include "tests/ops/widths/sweep.hpp"

namespace biogpu::test {
namespace {

// A row of two numbers that are nearly equal is divided by its small spread.
constexpr double kNormalised = 1e-3;
constexpr double kRounded = 1e-5;
constexpr std::int64_t kRows = 41;

struct Norms {
  Pair weight, bias;
  struct Both {
    tensor::Norm host, device;
  } norm;
  Norms(Bed& bed, std::int64_t d)
      : weight(bed.random({d}, 1, false)), bias(bed.random({d}, 0.5f, false)) {
    norm.host = {weight.host, bias.host};
    norm.device = {weight.device, bias.device};
  }
};

void sweep_add_layer_norm(Bed& bed, std::int64_t d) {
  const Norms norms(bed, d);
  const Pair x = bed.random({kRows, d}, 1, false), add = bed.random({kRows, d}, 1, true);
  const Pair sum = bed.unset({kRows, d}, false), out = bed.unset({kRows, d}, false),
             operand = bed.unset({kRows, d}, true);
  compare(bed, {{sum, kRounded}, {out, kNormalised}, {operand, operand_result(bed) + kNormalised}},
          [&](Context& context, const auto& of) {
            ops::add_layer_norm(context,
                                {of(x), of(add), of(norms.norm), of(sum), of(out), of(operand)});
          });
}

void sweep_embed(Bed& bed, std::int64_t d) {
  const Norms norms(bed, d);
  const Pair table = bed.random({11, d}, 1, false), places = bed.random({kRows, d}, 1, false);
  const Pair scale = bed.random({kRows}, 1, false);
  std::vector<std::int32_t> id, position;
  for (std::int32_t i = 0; i < kRows; ++i) {
    id.push_back(i * 3 % 11);
    position.push_back(i * 5 % 41);
  }
  const Indices ids = bed.indices(id), positions = bed.indices(position);
  const Pair sum = bed.unset({kRows, d}, false), out = bed.unset({kRows, d}, false);
  compare(bed, {{sum, kRounded}, {out, kNormalised}}, [&](Context& context, const auto& of) {
    ops::embed(context, {of(table),
                         of(ids),
                         of(scale),
                         of(places),
                         of(positions),
                         of(norms.norm),
                         of(sum),
                         of(out),
                         {}});
  });
}

void sweep_append_rows(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({3, d}, 1, true), out = bed.random({9, d}, 1, true);
  const Indices starts = bed.indices({0, 2, 5, 9}), counts = bed.indices({1, 3, 2});
  compare(bed, {{out, 1e-30}}, [&](Context& context, const auto& of) {
    ops::append_rows(context, {of(x), of(starts), of(counts), of(out)});
  });
}

void sweep_gather_rows(Bed& bed, std::int64_t d) {
  const Pair wide = bed.random({kRows, d + 5}, 1, true), out = bed.unset({kRows, d}, false);
  std::vector<std::int32_t> row;
  for (std::int32_t i = 0; i < kRows; ++i) row.push_back(i * 7 % 41);
  const Indices rows = bed.indices(row);
  compare(bed, {{out, 1e-30}}, [&](Context& context, const auto& of) {
    ops::gather_rows(context, {of(wide).slice(1, 5, d + 5), of(rows), of(out)});
  });
}

// Rows become columns of operands, and are copied to a slice.
void sweep_permute(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({kRows, d}, 1, true), out = bed.unset({d, kRows}, true),
             wide = bed.unset({kRows, d + 3}, false);
  compare(bed, {{out, 1e-30}, {wide, 1e-30}}, [&](Context& context, const auto& of) {
    ops::permute(context, {tensor::transposed(of(x)), of(out)});
    ops::permute(context, {of(x), of(wide).slice(1, 1, d + 1)});
  });
}

void sweep_repeat_rows(Bed& bed, std::int64_t d) {
  const RaggedPair in = bed.segments({1, 11, 9}), to = bed.segments({2, 21, 18});
  const Pair x = bed.random({21, d}, 1, true), residual = bed.random({kRows, d}, 1, false);
  const Pair y = bed.unset({kRows, d}, false), next = bed.unset({kRows, d}, true);
  compare(bed, {{y, kRounded}, {next, operand_result(bed)}}, [&](Context& context, const auto& of) {
    ops::repeat_rows(context, {of(x),
                               2,
                               &of(in),
                               &of(to),
                               of(residual),
                               of(y),
                               {{}, {}, ops::Activation::relu, of(next)}});
  });
}

void sweep_argmax(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({kRows, d}, 1, false), value = bed.unset({kRows}, false);
  const Indices out = bed.indices(std::vector<std::int32_t>(kRows));
  compare(bed, {{value, 1e-30}}, [&](Context& context, const auto& of) {
    ops::argmax(context, {of(x), {}, {}, of(out), of(value)});
  });
}

void sweep_log_softmax(Bed& bed, std::int64_t width) {
  const std::int64_t d = width + 1;  // of one column all are 0
  const Pair x = bed.random({kRows, d}, 2, false);
  ops::log_softmax(bed.reference(), {x.host});
  ops::log_softmax(bed.device(), {x.device});
  CHECK(bed.difference(x) < kRounded);
}

void sweep_softmax(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({kRows, d + 3}, 2, true), out = bed.unset({kRows, d}, true);
  const Pair mask = bed.random({d}, 1, false);
  compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
    ops::Softmax op;
    op.x = of(x).slice(1, 2, d + 2);
    op.axis = 1;
    op.mask = of(mask);
    op.out = of(out);
    ops::softmax(context, op);
  });
}

void sweep_sample(Bed& bed, std::int64_t d) {
  const Pair logits = bed.random({kRows, d}, 2, false);
  Indices out = bed.indices(std::vector<std::int32_t>(kRows, -7));
  std::vector<std::int32_t> got(kRows);
  const auto run = [&](Context& context, const auto& of) {
    ops::Sample op;
    op.logits = of(logits);
    op.seed = 11;
    op.out = of(out);
    ops::sample(context, op);
  };
  run(bed.reference(), [](const auto& x) { return x.host; });
  run(bed.device(), [](const auto& x) { return x.device; });
  bed.device().copy_out(got.data(), out.device);
  bed.device().synchronize();
  CHECK(got == out.values);
}

void sweep_max_pool(Bed& bed, std::int64_t d) {
  const RaggedPair in = bed.segments({1, 21, 19}), to = bed.segments({1, 11, 9});
  const Pair x = bed.random({kRows, d}, 1, true), y = bed.unset({21, d}, false);
  compare(bed, {{y, 1e-30}}, [&](Context& context, const auto& of) {
    ops::max_pool(context, {of(x), 2, &of(in), &of(to), of(y), {}});
  });
}

void sweep_mean_pool(Bed& bed, std::int64_t d) {
  const RaggedPair segments = bed.segments({3, 21, 17});
  const Pair x = bed.random({kRows, d}, 1, true), out = bed.unset({3, d}, false);
  compare(bed, {{out, kRounded}}, [&](Context& context, const auto& of) {
    ops::mean_pool(context, {of(x), &of(segments), 1, 1, of(out)});
  });
}

void sweep_segment_sum(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({kRows, d}, 1, false), out = bed.unset({4, d}, false);
  const Indices starts = bed.indices({0, 1, 1, 20, 41});
  compare(bed, {{out, kRounded}}, [&](Context& context, const auto& of) {
    ops::segment_sum(context, {of(x), of(starts), {}, of(out)});
  });
}

// In double precision: the bytes of the reference.
void sweep_range_sum(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({kRows, d}, 1, false);
  const Indices flat = bed.indices({0, 0, 3, 4, 0, 41, 17, 30});
  std::vector<double> factor{1, 0.5, 1.0 / 3, -2}, right(static_cast<std::size_t>(4 * d)),
      got(right.size());
  const Tensor factors(bed.device().allocate(4 * sizeof(double)), DType::f64, {4}),
      sums(bed.device().allocate(got.size() * sizeof(double)), DType::f64, {4, d});
  bed.device().copy_in(factors, factor.data());
  const auto ranges = [](const Tensor& pairs) { return Tensor(pairs.data, DType::i32, {4, 2}); };
  ops::range_sum(bed.reference(), {x.host,
                                   ranges(flat.host),
                                   {factor.data(), DType::f64, {4}},
                                   {},
                                   {right.data(), DType::f64, {4, d}}});
  ops::range_sum(bed.device(), {x.device, ranges(flat.device), factors, {}, sums});
  bed.device().copy_out(reinterpret_cast<float*>(got.data()),
                        Tensor(sums.data, DType::f32, {4, 2 * d}));
  bed.device().synchronize();
  CHECK(got == right);
}

void sweep_fill_zero(Bed& bed, std::int64_t d) {
  const Pair x = bed.unset({kRows, d}, false);
  ops::fill_zero(bed.device(), {x.device});
  CHECK(bed.fetch(x.device) == std::vector<float>(static_cast<std::size_t>(kRows * d)));
}

// A gate and a shift of each column, between slices of wider tensors.
void sweep_map(Bed& bed, std::int64_t d) {
  const Pair gate = bed.random({kRows, d + 3}, 2, true), x = bed.random({kRows, d}, 1, false);
  const Pair shift = bed.random({d}, 1, false), out = bed.unset({kRows, d + 2}, true);
  compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
    ops::map(context, ops::map_gate_shift(of(gate).slice(1, 3, d + 3), of(x), of(shift),
                                          of(out).slice(1, 1, d + 1)));
  });
}

void sweep_silu(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({kRows, d}, 2, false), out = bed.unset({kRows, d}, true);
  compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
    ops::silu(context, {of(x), of(out)});
  });
}

void sweep_silu_grad(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({kRows, d}, 2, false), d_out = bed.random({kRows, d}, 1, false);
  const Pair d_x = bed.unset({kRows, d}, false);
  compare(bed, {{d_x, kRounded}}, [&](Context& context, const auto& of) {
    ops::silu_grad(context, {of(x), of(d_out), of(d_x)});
  });
}

}  // namespace

std::vector<WidthSweep> row_sweeps() {
  return {{"add_layer_norm", sweep_add_layer_norm},
          {"embed", sweep_embed},
          {"append_rows", sweep_append_rows},
          {"gather_rows", sweep_gather_rows},
          {"permute", sweep_permute},
          {"repeat_rows", sweep_repeat_rows},
          {"argmax", sweep_argmax},
          {"log_softmax", sweep_log_softmax},
          {"map", sweep_map},
          {"max_pool", sweep_max_pool},
          {"mean_pool", sweep_mean_pool},
          {"softmax", sweep_softmax},
          {"sample", sweep_sample},
          {"segment_sum", sweep_segment_sum},
          {"range_sum", sweep_range_sum},
          {"fill_zero", sweep_fill_zero},
          {"silu", sweep_silu},
          {"silu_grad", sweep_silu_grad}};
}

}  // namespace biogpu::test
