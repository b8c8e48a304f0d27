#include "lib/models/proteinmpnn/ops/edge_update.hpp"

#include "lib/models/proteinmpnn/ops/edge_block.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::proteinmpnn {

void edge_update_cpu(CpuContext& context, const EdgeUpdate& op) {
  const std::int64_t k = op.edges.shape[1], d = op.edges.shape[2];
  context.for_each(op.edges.shape[0], [&](std::int64_t t) {
    EdgeRoom room(context.scratch().reserve(EdgeRoom::floats(k, d)), k, d);
    const std::int64_t n = op.counts.as<std::int32_t>()[t];
    for (std::int64_t e = 0; e < n; ++e)
      room.senders[static_cast<std::size_t>(e)] =
          op.sender.row<float>(op.senders.row<std::int32_t>(t)[e]);
    float* const edges = op.edges.row<float>(t);
    multiply_edges(op.edge, {edges, d, n, op.receiver.row<float>(t), room.senders.data()}, d,
                   room.edge_a);
    multiply_block(*op.middle, room.edge_a, n, Activation::gelu_erf, room.edge_b);
    multiply_block(*op.last, room.edge_b, n, Activation::none, room.edge_a);
    add_norm_block(op.norm, room.edge_a, n, edges);
  });
}

}  // namespace biogpu::models::proteinmpnn
