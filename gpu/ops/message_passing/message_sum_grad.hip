// The gradient of message_sum: what weights and neighbours get back.
//
// Shapes   see lib/ops/message_passing/message_sum_grad.hpp: C numbers of F channels an atom, P
//          weights an edge.
// Mapping  as message_sum.hip. One walk over an atom's edges gives both: the weights of the
//          atom's edges, and through the reverse edges what its neighbours' sums took from it.
// Traffic  4 (2 C + 2 P) F bytes an edge, 2 C F of them from L2 where x and d_out fit it; 8 C F an
//          atom; memory bound. No atomics.
// Result   sums in the order of the edges; the same for all grids and widths.
// Source   own.
// Oracle   message_sum_grad_ref, lib/ops/message_passing/message_sum_grad_ref.cpp.
#include "lib/ops/message_passing/message_sum_grad.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/message_passing/message_tile.hpp"

namespace biogpu::gpu::ops {
namespace {

struct MessageGrad {
  const float *x, *weights, *d_out;
  float *d_weights, *d_x;
  EdgeRows edges;
  std::int64_t n_atoms;
  int d;
};

template <int kNumbers, int kVector>
__global__ __launch_bounds__(kRowBlock) void message_sum_grad_kernel(MessageGrad m) {
  constexpr int kParts = kNumbers == 1 ? 1 : 3;
  const RowGroup at = row_group(m.d / kVector);
  if (at.row >= m.n_atoms) return;
  const int channel = at.group * kVector;
  const std::int64_t number = m.n_atoms * m.d;  // from one number to the next
  const std::int64_t own = at.row * m.d + channel;
  Channels<kVector> g_own[kNumbers], d_x[kNumbers];
#pragma unroll
  for (int c = 0; c < kNumbers; ++c) g_own[c] = load_channels<kVector>(m.d_out + own + c * number);
  const std::int32_t end = m.edges.starts[at.row + 1];
  for (std::int32_t e = m.edges.starts[at.row]; e < end; ++e) {
    const std::int64_t other = std::int64_t{m.edges.neighbours[e]} * m.d + channel;
    const std::int64_t reverse = std::int64_t{m.edges.reverse[e]} * kParts * m.d + channel;
    Channels<kVector> weight[kParts], d_weight[kParts];
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      weight[p] = load_channels<kVector>(m.weights + reverse + p * m.d);
#pragma unroll
    for (int c = 0; c < kNumbers; ++c) {
      const int p = message_part<kNumbers>(c);
      add_product(d_weight[p], g_own[c], load_channels<kVector>(m.x + other + c * number));
      add_product(d_x[c], weight[p], load_channels<kVector>(m.d_out + other + c * number));
    }
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      store_channels(m.d_weights + (std::int64_t{e} * kParts + p) * m.d + channel, d_weight[p]);
  }
#pragma unroll
  for (int c = 0; c < kNumbers; ++c) store_channels(m.d_x + own + c * number, d_x[c]);
}

template <int kNumbers, int kVector>
void launch(const MessageGrad& m, Stream& stream) {
  stream.launch(message_sum_grad_kernel<kNumbers, kVector>, row_blocks(m.n_atoms * (m.d / kVector)),
                kRowBlock, m);
}

}  // namespace

void message_sum_grad(Device& device, const biogpu::ops::MessageSumGrad& op) {
  if (op.x.size() == 0) return;
  const MessageGrad m{op.x.as<float>(),
                      op.weights.as<float>(),
                      op.d_out.as<float>(),
                      op.d_weights.as<float>(),
                      op.d_x.as<float>(),
                      {op.edges->starts.as<std::int32_t>(), op.edges->neighbours.as<std::int32_t>(),
                       op.edges->reverse.as<std::int32_t>()},
                      op.x.shape[1],
                      static_cast<int>(op.x.shape[2])};
  const bool fours = m.d % 4 == 0;
  Stream& stream = device.stream();
  if (op.x.shape[0] == 1) return fours ? launch<1, 4>(m, stream) : launch<1, 1>(m, stream);
  return fours ? launch<9, 4>(m, stream) : launch<9, 1>(m, stream);
}

}  // namespace biogpu::gpu::ops
