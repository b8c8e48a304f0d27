// Tokens of complexes in the eight frames of their axes.
//
// Shapes   see lib/models/dualbind/ops/frame_tokens.hpp; d numbers a token.
// Mapping  one thread per column of a token, which writes it in all frames.
// Traffic  8 d numbers written a token, d read, which is in L2 for pockets; bound by what is
//          written.
// Result   fused products in fp32; the same for all grids and widths.
// Source   Puny et al. 2022, arXiv 2110.03336.
// Oracle   frame_tokens_ref, lib/models/dualbind/ops/frame_tokens_ref.cpp.
#include "lib/models/dualbind/ops/frame_tokens.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::dualbind {
namespace {

namespace model = biogpu::models::dualbind;
using ops::kRowBlock;
using ops::row_group;
using ops::RowGroup;

struct TokenArrays {
  const float *ligand, *pocket;
  std::int64_t ligand_stride, pocket_stride, n_ligand, n_tokens;
  const std::int32_t *sources, *complexes, *starts;
  const float *positions, *centre, *axes, *weight;
  std::int64_t weight_stride;
  ops::Rows out;
  int d;
};

__global__ __launch_bounds__(kRowBlock) void frame_tokens_kernel(TokenArrays a) {
  const RowGroup at = row_group(a.d);
  if (at.row >= a.n_tokens) return;
  const std::int64_t complex = a.complexes[at.row], begin = a.starts[complex];
  const std::int64_t n = a.starts[complex + 1] - begin;
  float moved[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const float* const axes = a.axes + 9 * complex;
    float p = 0;
#pragma unroll
    for (int j = 0; j < 3; ++j)
      p += axes[3 * j + i] * (a.positions[3 * at.row + j] - a.centre[3 * complex + j]);
    moved[i] = p * a.weight[i * a.weight_stride + at.group];
  }
  const std::int64_t source = a.sources[at.row];
  const float features = source < a.n_ligand
                             ? a.ligand[source * a.ligand_stride + at.group]
                             : a.pocket[(source - a.n_ligand) * a.pocket_stride + at.group];
#pragma unroll
  for (int frame = 0; frame < model::kFrames; ++frame) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) sum += (frame >> (2 - i)) % 2 == 0 ? -moved[i] : moved[i];
    ops::store_element(a.out, model::kFrames * begin + frame * n + at.row - begin, at.group,
                       features + sum);
  }
}

}  // namespace

void frame_tokens(ops::Device& device, const model::FrameTokens& op) {
  const TokenArrays arrays{op.ligand.as<float>(),
                           op.pocket.as<float>(),
                           op.ligand.stride[0],
                           op.pocket.stride[0],
                           op.ligand.shape[0],
                           op.sources.shape[0],
                           op.sources.as<std::int32_t>(),
                           op.complexes.as<std::int32_t>(),
                           op.starts.as<std::int32_t>(),
                           op.positions.as<float>(),
                           op.centre.as<float>(),
                           op.axes.as<float>(),
                           op.weight.as<float>(),
                           op.weight.stride[0],
                           ops::rows_of(op.out),
                           static_cast<int>(op.out.shape[1])};
  if (arrays.n_tokens == 0) return;
  device.stream().launch(frame_tokens_kernel, ops::row_blocks(arrays.n_tokens * arrays.d),
                         kRowBlock, arrays);
}

}  // namespace biogpu::gpu::dualbind
