// Sums of weighted neighbours over the edges of each atom.
//
// Shapes   see lib/ops/message_passing/message_sum.hpp: C numbers of F channels an atom, P weights
//          of F an edge.
// Mapping  one thread per atom and 4 channels (1 where F is no multiple of 4), which keeps the C
//          sums in registers through all edges: with F = 128 a wave of 32 is one atom.
// Traffic  4 (C + P) F bytes an edge, C F from L2 where x fits it; 4 C F an atom written; memory
//          bound: 2 operations for 4 to 8 bytes. No atomics.
// Result   sums in the order of the edges, fused products; the same for all grids and widths.
// Source   own; message passing of TensorNet (arXiv 2306.06482) with C = 9.
// Oracle   message_sum_ref, lib/ops/message_passing/message_sum_ref.cpp.
#include "lib/ops/message_passing/message_sum.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/message_passing/message_tile.hpp"

namespace biogpu::gpu::ops {
namespace {

template <int kNumbers, int kVector>
__global__ __launch_bounds__(kRowBlock) void message_sum_kernel(float* out, const float* x,
                                                                const float* weights,
                                                                EdgeRows edges,
                                                                std::int64_t n_atoms, int d) {
  constexpr int kParts = kNumbers == 1 ? 1 : 3;
  const RowGroup at = row_group(d / kVector);
  if (at.row >= n_atoms) return;
  const int channel = at.group * kVector;
  const std::int64_t number = n_atoms * d;  // from one number to the next
  Channels<kVector> sums[kNumbers];
  const std::int32_t end = edges.starts[at.row + 1];
  for (std::int32_t e = edges.starts[at.row]; e < end; ++e) {
    const float* const from = x + std::int64_t{edges.neighbours[e]} * d + channel;
    const float* const weight = weights + std::int64_t{e} * kParts * d + channel;
    Channels<kVector> part[kParts];
#pragma unroll
    for (int p = 0; p < kParts; ++p) part[p] = load_channels<kVector>(weight + p * d);
#pragma unroll
    for (int c = 0; c < kNumbers; ++c) {
      add_product(sums[c], part[message_part<kNumbers>(c)],
                  load_channels<kVector>(from + c * number));
    }
  }
#pragma unroll
  for (int c = 0; c < kNumbers; ++c)
    store_channels(out + c * number + at.row * d + channel, sums[c]);
}

template <int kNumbers, int kVector>
void launch(const biogpu::ops::MessageSum& op, Stream& stream) {
  const std::int64_t n_atoms = op.x.shape[1];
  const int d = static_cast<int>(op.x.shape[2]);
  const EdgeRows edges{op.edges->starts.as<std::int32_t>(), op.edges->neighbours.as<std::int32_t>(),
                       nullptr};
  stream.launch(message_sum_kernel<kNumbers, kVector>, row_blocks(n_atoms * (d / kVector)),
                kRowBlock, op.out.as<float>(), op.x.as<float>(), op.weights.as<float>(), edges,
                n_atoms, d);
}

}  // namespace

void message_sum(Device& device, const biogpu::ops::MessageSum& op) {
  if (op.x.size() == 0) return;
  const bool fours = op.x.shape[2] % 4 == 0;
  Stream& stream = device.stream();
  if (op.x.shape[0] == 1) return fours ? launch<1, 4>(op, stream) : launch<1, 1>(op, stream);
  return fours ? launch<9, 4>(op, stream) : launch<9, 1>(op, stream);
}

}  // namespace biogpu::gpu::ops
