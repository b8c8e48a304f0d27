// Operations on rows of edges.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/tensornet/ops/edge_ops_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/models/tensornet/ops/edge_ops.hpp"
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

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::tensornet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::tensornet {

HWY_EXPORT(look_up_row);
HWY_EXPORT(add_slope_of_row);

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

void edge_virial_cpu(CpuContext& context, const EdgeVirial& op) {
  context.for_rows(op.out.shape[0], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) add_virial_of(op, i);
  });
}

}  // namespace biogpu::models::tensornet
#endif
