// Operations on rows of edges and atoms.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/tensornet/ops/edge_ops_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "lib/models/tensornet/ops/charge_ops.hpp"
#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/models/tensornet/ops/table_place.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::models::tensornet {
namespace HWY_NAMESPACE {

namespace row = ops::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;
using row::F32;
using row::for_vectors;
using row::load_first;
using row::store_first;
using row::Vec;

void look_up_row(const RadialTable& op, std::int64_t e) {
  const std::int64_t n_functions = op.out.shape[1];
  const TablePlace at(op.distance.as<float>()[e], op.lower, op.upper, op.table.shape[0]);
  float* const out = op.out.row<float>(e);
  if (!at.inside) {
    std::fill_n(out, n_functions, 0.0f);
    return;
  }
  const float* const a = op.table.row<float>(at.interval);
  const Vec t = hn::Set(F32(), at.t);
  for_vectors(n_functions, [&](std::int64_t c, std::size_t n) HWY_ATTR {
    Vec y = load_first(a + 3 * n_functions + c, n);
    y = hn::MulAdd(y, t, load_first(a + 2 * n_functions + c, n));
    y = hn::MulAdd(y, t, load_first(a + n_functions + c, n));
    store_first(hn::MulAdd(y, t, load_first(a + c, n)), n, out + c);
  });
}

void add_slope_of_row(const RadialTableGrad& op, std::int64_t e) {
  const F32 f32;
  const std::int64_t n_functions = op.d_out.shape[1];
  const TablePlace at(op.distance.as<float>()[e], op.lower, op.upper, op.table.shape[0]);
  const float before = op.previous.empty() ? 0.0f : op.previous.as<float>()[e];
  Vec sum = hn::Zero(f32);
  if (at.inside) {
    const float *const a = op.table.row<float>(at.interval), *const d_out = op.d_out.row<float>(e);
    const Vec t2 = hn::Set(f32, 2 * at.t), t3 = hn::Set(f32, 3 * at.t * at.t);
    for_vectors(n_functions, [&](std::int64_t c, std::size_t n) HWY_ATTR {
      Vec slope = load_first(a + n_functions + c, n);
      slope = hn::MulAdd(t2, load_first(a + 2 * n_functions + c, n), slope);
      slope = hn::MulAdd(t3, load_first(a + 3 * n_functions + c, n), slope);
      sum = hn::MulAdd(slope, load_first(d_out + c, n), sum);
    });
  }
  op.d_distance.as<float>()[e] = before + hn::GetLane(hn::SumOfLanes(f32, sum)) * at.scale;
}

void add_pair(const PairAdd& op, std::int64_t e) {
  const float* const receiver = op.receiver.row<float>(op.edges->receivers.as<std::int32_t>()[e]);
  const float* const neighbour =
      op.neighbour.row<float>(op.edges->neighbours.as<std::int32_t>()[e]);
  for_vectors(op.x.shape[1], [&](std::int64_t f, std::size_t n) HWY_ATTR {
    const Vec sum = hn::Add(load_first(receiver + f, n), load_first(neighbour + f, n));
    store_first(hn::Add(load_first(op.x.row<float>(e) + f, n), sum), n, op.out.row<float>(e) + f);
  });
}

void scale_row(const RowScale& op, std::int64_t r) {
  const Vec scale = hn::Set(F32(), op.scale.as<float>()[r]);
  for_vectors(op.x.shape[1], [&](std::int64_t f, std::size_t n) HWY_ATTR {
    store_first(hn::Mul(scale, load_first(op.x.row<float>(r) + f, n)), n, op.out.row<float>(r) + f);
  });
}

void scale_grad_of_row(const RowScaleGrad& op, std::int64_t r) {
  const F32 f32;
  const Vec scale = hn::Set(f32, op.scale.as<float>()[r]);
  Vec sum = hn::Zero(f32);
  for_vectors(op.x.shape[1], [&](std::int64_t f, std::size_t n) HWY_ATTR {
    const Vec g = load_first(op.d_out.row<float>(r) + f, n);
    sum = hn::MulAdd(g, load_first(op.x.row<float>(r) + f, n), sum);
    store_first(hn::Mul(scale, g), n, op.d_x.row<float>(r) + f);
  });
  op.d_scale.as<float>()[r] = hn::GetLane(hn::SumOfLanes(f32, sum));
}

void gate_row(const SigmoidGate& op, std::int64_t r) {
  for_vectors(op.x.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec s = row::sigmoid(load_first(op.gate.row<float>(r) + i, n));
    store_first(hn::Mul(load_first(op.x.row<float>(r) + i, n), s), n, op.out.row<float>(r) + i);
  });
}

void gate_grad_of_row(const SigmoidGateGrad& op, std::int64_t r) {
  for_vectors(op.x.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec s = row::sigmoid(load_first(op.gate.row<float>(r) + i, n));
    const Vec d_x = hn::Mul(load_first(op.d_out.row<float>(r) + i, n), s);
    const Vec rest = hn::Sub(hn::Set(F32(), 1.0f), s);
    const Vec x = load_first(op.x.row<float>(r) + i, n);
    store_first(d_x, n, op.d_x.row<float>(r) + i);
    store_first(hn::Mul(hn::Mul(d_x, x), rest), n, op.d_gate.row<float>(r) + i);
  });
}

void layer_norm_grad_of_row(const LayerNormGrad& op, std::int64_t r) {
  const F32 f32;
  const std::int64_t d = op.x.shape[1];
  const float *const x = op.x.row<float>(r), *const d_out = op.d_out.row<float>(r),
                     *const weight = op.norm.weight.as<float>();
  const Vec per_number = hn::Set(f32, 1.0f / static_cast<float>(d));
  const auto mean_of = [&](Vec total)
                           HWY_ATTR { return hn::Mul(hn::SumOfLanes(f32, total), per_number); };
  Vec total = hn::Zero(f32), squares = total, sum_g = total, sum_gz = total;
  for_vectors(d, [&](std::int64_t i, std::size_t n)
                     HWY_ATTR { total = hn::Add(total, load_first(x + i, n)); });
  const Vec mean = mean_of(total);
  for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec off = hn::IfThenElseZero(hn::FirstN(f32, n), hn::Sub(load_first(x + i, n), mean));
    const Vec g = hn::Mul(load_first(d_out + i, n), load_first(weight + i, n));
    squares = hn::MulAdd(off, off, squares);
    sum_g = hn::Add(sum_g, g);
    sum_gz = hn::MulAdd(off, g, sum_gz);
  });
  const Vec scale = hn::Set(f32, 1.0f / std::sqrt(hn::GetLane(mean_of(squares)) + op.norm.eps));
  const Vec mean_g = mean_of(sum_g), mean_gz = hn::Mul(mean_of(sum_gz), hn::Mul(scale, scale));
  for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec g = hn::Mul(load_first(d_out + i, n), load_first(weight + i, n));
    const Vec off = hn::Sub(load_first(x + i, n), mean);
    store_first(hn::Mul(scale, hn::NegMulAdd(off, mean_gz, hn::Sub(g, mean_g))), n,
                op.d_x.row<float>(r) + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::tensornet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::tensornet {

HWY_EXPORT(look_up_row);
HWY_EXPORT(add_slope_of_row);
HWY_EXPORT(add_pair);
HWY_EXPORT(scale_row);
HWY_EXPORT(scale_grad_of_row);
HWY_EXPORT(gate_row);
HWY_EXPORT(gate_grad_of_row);
HWY_EXPORT(layer_norm_grad_of_row);

namespace {

void add_virial_of(const EdgeVirial& op, std::int64_t i) {
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  float sums[9] = {};
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const float* const r = op.edges->displacement.as<float>() + 3 * e;
    const float distance = op.edges->distance.as<float>()[e];
    const float along = distance > 0 ? op.d_distance.as<float>()[e] / distance : 0.0f;
    for (int l = 0; l < 3; ++l) {
      const float g = along * r[l] +
                      (op.d_displacement.empty() ? 0.0f : op.d_displacement.as<float>()[3 * e + l]);
      for (int k = 0; k < 3; ++k) sums[3 * k + l] += r[k] * g;
    }
  }
  std::copy_n(sums, 9, op.out.as<float>() + 9 * i);
}

}  // namespace

void radial_table_cpu(CpuContext& context, const RadialTable& op) {
  context.for_rows(op.out.shape[0], [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(look_up_row)(op, e);
  });
}

void radial_table_grad_cpu(CpuContext& context, const RadialTableGrad& op) {
  context.for_rows(op.d_out.shape[0], [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(add_slope_of_row)(op, e);
  });
}

void pair_add_cpu(CpuContext& context, const PairAdd& op) {
  const std::int64_t n_edges = op.edges->starts.as<std::int32_t>()[op.edges->n_atoms()];
  context.for_rows(n_edges, [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(add_pair)(op, e);
  });
}

void row_scale_cpu(CpuContext& context, const RowScale& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(scale_row)(op, r);
  });
}

void row_scale_grad_cpu(CpuContext& context, const RowScaleGrad& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(scale_grad_of_row)(op, r);
  });
}

void sigmoid_gate_cpu(CpuContext& context, const SigmoidGate& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(gate_row)(op, r);
  });
}

void sigmoid_gate_grad_cpu(CpuContext& context, const SigmoidGateGrad& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(gate_grad_of_row)(op, r);
  });
}

void layer_norm_grad_cpu(CpuContext& context, const LayerNormGrad& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(layer_norm_grad_of_row)(op, r);
  });
}

void edge_virial_cpu(CpuContext& context, const EdgeVirial& op) {
  context.for_rows(op.out.shape[0], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) add_virial_of(op, i);
  });
}

}  // namespace biogpu::models::tensornet
#endif
