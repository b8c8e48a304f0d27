#include "lib/models/proteinmpnn/ops/edge_update.hpp"

#include "lib/models/proteinmpnn/ops/edge_layers.hpp"

namespace biogpu::models::proteinmpnn {

void edge_update_ref(const EdgeUpdate& op) {
  using reference::Row;
  for (std::int64_t t = 0; t < op.edges.shape[0]; ++t)
    for (std::int32_t e = 0; e < op.counts.as<std::int32_t>()[t]; ++e) {
      float* const edge = op.edges.row<float>(t) + e * op.edges.stride[1];
      const Row old = reference::row_of(edge, op.edges.shape[2]);
      Row x = reference::multiply(*op.edge, old);
      reference::add(x, op.receiver.row<float>(t));
      reference::add(x, op.sender.row<float>(op.senders.row<std::int32_t>(t)[e]));
      x = reference::gelu(reference::multiply(*op.middle, reference::gelu(x)));
      x = reference::plus(old, reference::multiply(*op.last, x));
      reference::store(reference::layer_norm(x, op.norm), edge);
    }
}

}  // namespace biogpu::models::proteinmpnn
