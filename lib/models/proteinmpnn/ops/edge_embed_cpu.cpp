#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/proteinmpnn/ops/edge_embed_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/models/proteinmpnn/ops/edge_block.hpp"
#include "lib/models/proteinmpnn/ops/edge_embed.hpp"
#include "lib/models/proteinmpnn/ops/edge_geometry.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::models::proteinmpnn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using ops::HWY_NAMESPACE::exp_of;
using ops::HWY_NAMESPACE::F32;
using ops::HWY_NAMESPACE::for_vectors;
using ops::HWY_NAMESPACE::normalise;
using ops::HWY_NAMESPACE::Vec;

// May write as many numbers behind the last function as a vector has.
void radial_functions(const float* distances, std::int64_t n, float* out) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const Vec step = hn::Set(f32, 20.0f / 15.0f), width = hn::Set(f32, 0.8f);
  for (std::int64_t i = 0; i < n; ++i) {
    const Vec distance = hn::Set(f32, distances[i]);
    for (std::int64_t k = 0; k < EdgeEmbed::kBasis; k += lanes) {
      const Vec center = hn::MulAdd(hn::Iota(f32, static_cast<float>(k)), step, hn::Set(f32, 2.0f));
      const Vec z = hn::Mul(hn::Sub(distance, center), width);
      hn::StoreU(exp_of(hn::Neg(hn::Mul(z, z))), f32, out + i * EdgeEmbed::kBasis + k);
    }
  }
}

// x = LayerNorm(x + position), dense rows.
void add_positions(const EdgeEmbed& op, std::int64_t i, std::int64_t n, float* x) {
  const F32 f32;
  const std::int64_t d = op.out.shape[2];
  for (std::int64_t e = 0; e < n; ++e) {
    const std::int32_t j = op.rows.row<std::int32_t>(i)[e];
    const float* const position = op.positions.row<float>(position_class(op, i, j));
    float* const row = x + e * d;
    for_vectors(d, [&](std::int64_t c, std::size_t) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(f32, row + c), hn::LoadU(f32, position + c)), f32, row + c);
    });
    normalise(row, d, op.norm, row, nullptr);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::proteinmpnn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::proteinmpnn {

HWY_EXPORT(radial_functions);
HWY_EXPORT(add_positions);

void edge_embed_cpu(CpuContext& context, const EdgeEmbed& op) {
  constexpr std::int64_t kSlack = HWY_MAX_BYTES / sizeof(float);
  const std::int64_t k = op.rows.shape[1], d = op.out.shape[2], width = op.features->n_in;
  const std::int64_t basis = op.n_pairs * EdgeEmbed::kBasis;
  context.for_each(op.points.shape[0], [&](std::int64_t i) {
    float* const inputs = context.scratch().reserve(k * width + kSlack + k * d + op.n_pairs);
    float* const x = inputs + k * width + kSlack;
    float* const distances = x + k * d;
    const std::int64_t n = op.counts.as<std::int32_t>()[i];
    for (std::int64_t e = 0; e < n; ++e) {
      const std::int32_t j = op.rows.row<std::int32_t>(i)[e];
      distances[0] = op.distances.row<float>(i)[e];
      for (int p = 1; p < op.n_pairs; ++p) distances[p] = pair_distance(op, i, j, p);
      HWY_DYNAMIC_DISPATCH(radial_functions)(distances, op.n_pairs, inputs + e * width);
      if (!op.frames.empty()) edge_orientation(op, i, j, inputs + e * width + basis);
    }
    multiply_block(*op.features, inputs, n, Activation::none, x);
    HWY_DYNAMIC_DISPATCH(add_positions)(op, i, n, x);
    if (!op.normalised.empty()) std::copy_n(x, n * d, op.normalised.row<float>(i));
    multiply_block(*op.linear, x, n, Activation::none, op.out.row<float>(i));
  });
}

}  // namespace biogpu::models::proteinmpnn
#endif
