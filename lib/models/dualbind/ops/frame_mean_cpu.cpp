#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/dualbind/ops/frame_mean_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/models/dualbind/ops/frame_mean.hpp"
#include "lib/models/dualbind/ops/token_rows.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::models::dualbind {
namespace HWY_NAMESPACE {

namespace row = ops::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

// frames: of the token, `distance` rows apart.
void mean_of_frames(const FrameMean& op, std::int64_t first, std::int64_t distance, float* scratch,
                    float* out) {
  const std::int64_t d = op.out.shape[1];
  for (int frame = 0; frame < kFrames; ++frame) {
    row::normalise(op.x.row<float>(first + frame * distance), d, op.norm, scratch, nullptr);
    if (frame == 0) {
      std::copy_n(scratch, d, out);
      continue;
    }
    const row::Vec scale = hn::Set(row::F32(), frame + 1 == kFrames ? 1.0f / kFrames : 1.0f);
    row::for_vectors(d, [&](std::int64_t k, std::size_t n) HWY_ATTR {
      const row::Vec sum = hn::Add(row::load_first(out + k, n), row::load_first(scratch + k, n));
      row::store_first(hn::Mul(sum, scale), n, out + k);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::dualbind
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::dualbind {

HWY_EXPORT(mean_of_frames);

void frame_mean_cpu(CpuContext& context, const FrameMean& op) {
  const std::int64_t n_complexes = op.starts.shape[0] - 1;
  context.for_rows(op.out.shape[0], [&](std::int64_t t, std::int64_t last) {
    float* const scratch = context.scratch().reserve(op.out.shape[1]);
    for (; t < last; ++t) {
      const TokenRows rows(op.starts.as<std::int32_t>(), op.ligand_starts.as<std::int32_t>(),
                           n_complexes, op.complexes.as<std::int32_t>()[t]);
      HWY_DYNAMIC_DISPATCH(mean_of_frames)
      (op, kFrames * rows.begin + t - rows.begin, rows.end - rows.begin, scratch,
       op.out.row<float>(rows.row(t)));
    }
  });
}

}  // namespace biogpu::models::dualbind
#endif
