// Tensors of atoms out of the directions of their edges.
//
// Shapes   see lib/ops/cartesian_tensor/tensor_embed.hpp; T atoms, F channels.
// Mapping  one thread per atom and channel, whose 9 sums stay in registers through all edges; the
//          direction's numbers are computed by every thread: 20 operations for 9 products.
// Traffic  12 F bytes an edge read, 36 F an atom written; memory bound. No atomics.
// Result   sums in the order of the edges, fused products; the same for all grids and widths.
// Source   own; TensorNet (arXiv 2306.06482).
// Oracle   tensor_embed_ref, lib/ops/cartesian_tensor/tensor_embed_ref.cpp.
#include "lib/ops/cartesian_tensor/tensor_embed.hpp"

#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/ops/device.hpp"

namespace biogpu::gpu::ops {
namespace {

struct TensorEmbedArrays {
  const float *weights, *displacement, *distance;
  const std::int32_t* starts;
  float* out;
  TensorGrid grid;
};

__global__ __launch_bounds__(kRowBlock) void tensor_embed_kernel(TensorEmbedArrays a) {
  const RowGroup place = row_group(a.grid.d);
  if (place.row >= a.grid.n_atoms) return;
  Numbers sums{};
  const std::int32_t end = a.starts[place.row + 1];
  for (std::int32_t e = a.starts[place.row]; e < end; ++e) {
    const float* const weights = a.weights + 3 * std::int64_t{e} * a.grid.d + place.group;
    const float part[3] = {weights[0], weights[a.grid.d], weights[2 * a.grid.d]};
    const Numbers numbers = biogpu::ops::direction_numbers(
        biogpu::ops::Direction<float>(a.displacement + 3 * std::int64_t{e}, a.distance[e]));
#pragma unroll
    for (int c = 0; c < 9; ++c) sums.n[c] += numbers.n[c] * part[c == 0 ? 0 : c < 4 ? 1 : 2];
  }
  store_numbers(a.out, place.row * a.grid.d + place.group, a.grid.step(), sums);
}

}  // namespace

void tensor_embed(Device& device, const biogpu::ops::TensorEmbed& op) {
  if (op.out.size() == 0) return;
  const TensorEmbedArrays arrays{op.weights.as<float>(),
                                 op.edges->displacement.as<float>(),
                                 op.edges->distance.as<float>(),
                                 op.edges->starts.as<std::int32_t>(),
                                 op.out.as<float>(),
                                 {op.out.shape[1], static_cast<int>(op.out.shape[2])}};
  device.stream().launch(tensor_embed_kernel, arrays.grid.blocks(), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
