#include "lib/models/dualbind/ops/frame_tokens.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::dualbind {
namespace {

void fill_token(const FrameTokens &op, std::int64_t t) {
  const std::int64_t complex = op.complexes.as<std::int32_t>()[t], n_ligand = op.ligand.shape[0];
  const std::int64_t begin = op.starts.as<std::int32_t>()[complex],
                     n = op.starts.as<std::int32_t>()[complex + 1] - begin, d = op.out.shape[1];
  const float *const axes = op.axes.row<float>(complex), *const x = op.positions.row<float>(t),
                     *const centre = op.centre.row<float>(complex);
  float p[3] = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) p[i] += axes[3 * j + i] * (x[j] - centre[j]);
  const std::int64_t source = op.sources.as<std::int32_t>()[t];
  const float *const features =
      source < n_ligand ? op.ligand.row<float>(source) : op.pocket.row<float>(source - n_ligand);
  const float *const w0 = op.weight.row<float>(0), *const w1 = op.weight.row<float>(1),
                     *const w2 = op.weight.row<float>(2);
  for (int frame = 0; frame < kFrames; ++frame) {
    const float p0 = frame_sign(frame, 0) * p[0], p1 = frame_sign(frame, 1) * p[1],
                p2 = frame_sign(frame, 2) * p[2];
    float *const out = op.out.row<float>(kFrames * begin + frame * n + t - begin);
    for (std::int64_t k = 0; k < d; ++k)
      out[k] = features[k] + (p0 * w0[k] + p1 * w1[k] + p2 * w2[k]);
  }
}

}  // namespace

void frame_tokens_cpu(CpuContext &context, const FrameTokens &op) {
  context.for_rows(op.sources.shape[0], [&](std::int64_t t, std::int64_t end) {
    for (; t < end; ++t) fill_token(op, t);
  });
}

}  // namespace biogpu::models::dualbind
