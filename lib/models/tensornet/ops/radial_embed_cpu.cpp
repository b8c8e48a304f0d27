#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/tensornet/ops/radial_embed_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/models/tensornet/ops/radial_embed.hpp"
#include "lib/models/tensornet/ops/table_place.hpp"
#include "lib/ops/cartesian_tensor/tensor_algebra.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::models::tensornet {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace row = ops::HWY_NAMESPACE;
using ops::kTensorNumbers;
using ops::kTensorParts;
using row::F32;
using row::for_vectors;
using row::load_first;
using row::store_first;
using row::Vec;

// An edge's place in the table, its direction, and the rows of its atoms' types.
struct EdgeRow {
  TablePlace place;
  ops::Direction<float> direction;
  ops::Numbers9<float> numbers;
  const float *coefficients, *receiver, *neighbour;
  std::int64_t n_functions;

  EdgeRow(const RadialEmbed& op, std::int64_t i, std::int64_t e)
      : place(op.edges->distance.as<float>()[e], op.lower, op.upper, op.table.shape[0]),
        direction(op.edges->displacement.as<float>() + 3 * e, op.edges->distance.as<float>()[e]),
        numbers(ops::direction_numbers(direction)),
        coefficients(op.table.row<float>(place.interval)),
        receiver(op.receiver.row<float>(op.types.as<std::int32_t>()[i])),
        neighbour(op.neighbour.row<float>(
            op.types.as<std::int32_t>()[op.edges->neighbours.as<std::int32_t>()[e]])),
        n_functions(op.table.shape[2]) {}

  HWY_INLINE Vec factor(std::int64_t f, std::size_t n) const {
    return hn::Add(load_first(receiver + f, n), load_first(neighbour + f, n));
  }
  HWY_INLINE Vec value(std::int64_t c, std::size_t n) const {
    const Vec t = hn::Set(F32(), place.t);
    Vec y = load_first(coefficients + 3 * n_functions + c, n);
    y = hn::MulAdd(y, t, load_first(coefficients + 2 * n_functions + c, n));
    y = hn::MulAdd(y, t, load_first(coefficients + n_functions + c, n));
    return hn::MulAdd(y, t, load_first(coefficients + c, n));
  }
  // By the place within the interval.
  HWY_INLINE Vec slope(std::int64_t c, std::size_t n) const {
    const Vec t2 = hn::Set(F32(), 2 * place.t), t3 = hn::Set(F32(), 3 * place.t * place.t);
    Vec y = load_first(coefficients + n_functions + c, n);
    y = hn::MulAdd(t2, load_first(coefficients + 2 * n_functions + c, n), y);
    return hn::MulAdd(t3, load_first(coefficients + 3 * n_functions + c, n), y);
  }
};

void embed_atom(const RadialEmbed& op, std::int64_t i) {
  const std::int64_t d = op.out.shape[2], step = op.out.shape[1] * d;
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  float* const out = op.out.as<float>() + i * d;
  for (int c = 0; c < kTensorNumbers; ++c) std::fill_n(out + c * step, d, 0.0f);
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const EdgeRow edge(op, i, e);
    if (!edge.place.inside) continue;
    for_vectors(d, [&](std::int64_t f, std::size_t n) HWY_ATTR {
      const Vec factor = edge.factor(f, n);
      Vec weights[kTensorParts];
      for (int p = 0; p < kTensorParts; ++p) weights[p] = hn::Mul(factor, edge.value(p * d + f, n));
      for (int c = 0; c < kTensorNumbers; ++c) {
        float* const sum = out + c * step + f;
        const Vec number = hn::Set(F32(), edge.numbers.n[c]);
        store_first(
            hn::MulAdd(number, weights[ops::part_of(c, kTensorNumbers)], load_first(sum, n)), n,
            sum);
      }
    });
  }
}

void embed_grad_of_edge(const RadialEmbedGrad& op, std::int64_t e) {
  const F32 f32;
  const std::int64_t d = op.d_out.shape[2], step = op.d_out.shape[1] * d;
  const std::int64_t i = op.forward.edges->receivers.as<std::int32_t>()[e];
  const EdgeRow edge(op.forward, i, e);
  const float* const d_out = op.d_out.as<float>() + i * d;
  ops::Numbers9<float> d_numbers{};
  float slopes = 0;
  if (edge.place.inside) {
    Vec sums[kTensorNumbers], of_slopes = hn::Zero(f32);
    for (Vec& sum : sums) sum = hn::Zero(f32);
    for_vectors(d, [&](std::int64_t f, std::size_t n) HWY_ATTR {
      const Vec factor = edge.factor(f, n);
      for (int p = 0; p < kTensorParts; ++p) {
        const Vec weight = hn::Mul(factor, edge.value(p * d + f, n));
        Vec d_weight = hn::Zero(f32);
        for (int c = 0; c < kTensorNumbers; ++c) {
          if (ops::part_of(c, kTensorNumbers) != p) continue;
          const Vec g = load_first(d_out + c * step + f, n);
          sums[c] = hn::MulAdd(weight, g, sums[c]);
          d_weight = hn::MulAdd(hn::Set(f32, edge.numbers.n[c]), g, d_weight);
        }
        const Vec slope = hn::Mul(factor, edge.slope(p * d + f, n));
        of_slopes = hn::MulAdd(slope, d_weight, of_slopes);
      }
    });
    for (int c = 1; c < kTensorNumbers; ++c)  // the scalar part has no direction
      d_numbers.n[c] = hn::GetLane(hn::SumOfLanes(f32, sums[c]));
    slopes = hn::GetLane(hn::SumOfLanes(f32, of_slopes));
  }
  ops::direction_grad(edge.direction, d_numbers, op.d_displacement.as<float>() + 3 * e);
  const float before = op.previous.empty() ? 0.0f : op.previous.as<float>()[e];
  op.d_distance.as<float>()[e] = before + slopes * edge.place.scale;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::tensornet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::tensornet {

HWY_EXPORT(embed_atom);
HWY_EXPORT(embed_grad_of_edge);

void radial_embed_cpu(CpuContext& context, const RadialEmbed& op) {
  context.for_rows(op.out.shape[1], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) HWY_DYNAMIC_DISPATCH(embed_atom)(op, i);
  });
}

void radial_embed_grad_cpu(CpuContext& context, const RadialEmbedGrad& op) {
  const Edges& edges = *op.forward.edges;
  const std::int64_t n_edges = edges.starts.as<std::int32_t>()[edges.n_atoms()];
  context.for_rows(n_edges, [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(embed_grad_of_edge)(op, e);
  });
}

}  // namespace biogpu::models::tensornet
#endif
