#include "lib/models/proteinmpnn/ops/edge_message.hpp"

#include "lib/models/proteinmpnn/ops/edge_layers.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

using reference::Row;

Row new_node(const EdgeMessage& op, std::int64_t t, std::int64_t row) {
  const std::int64_t d = op.out.shape[1];
  const auto* const present = op.present.as<std::uint8_t>();
  if (present[row] == 0) return Row(static_cast<std::size_t>(d), 0.0);
  Row sum(static_cast<std::size_t>(d), 0.0);
  double n = 0;
  for (std::int32_t e = 0; e < op.counts.as<std::int32_t>()[row]; ++e) {
    const std::int32_t j = op.senders.row<std::int32_t>(t)[e];
    if (op.only_present && present[j] == 0) continue;
    Row x = reference::row_of(op.edges.row<float>(row) + e * op.edges.stride[1], d);
    if (op.edge != nullptr) x = reference::multiply(*op.edge, x);
    reference::add(x, op.receiver.row<float>(t));
    reference::add(x, op.sender.row<float>(j));
    sum =
        reference::plus(sum, reference::gelu(reference::multiply(*op.middle, reference::gelu(x))));
    n += 1;
  }
  Row h(static_cast<std::size_t>(d), 0.0);
  if (!op.h.empty()) reference::add(h, op.h.row<float>(t));
  const NodeUpdate& update = op.update;
  h = reference::layer_norm(reference::plus(h, reference::multiply(*update.last, sum, n)),
                            update.before);
  const Row inner = reference::gelu(reference::multiply(*update.in, h));
  return reference::layer_norm(reference::plus(h, reference::multiply(*update.out, inner)),
                               update.after);
}

}  // namespace

void edge_message_ref(const EdgeMessage& op) {
  for (std::int64_t t = 0; t < op.out.shape[0]; ++t) {
    const Row h = new_node(op, t, op.edge_rows.empty() ? t : op.edge_rows.as<std::int32_t>()[t]);
    reference::store(h, op.out.row<float>(t));
    for (const EdgeMessage::Next& next : op.next) {
      if (next.linear == nullptr) continue;
      Row y = reference::multiply(*next.linear, h);
      if (!next.table.empty())
        reference::add(y, next.table.row<float>(next.ids.as<std::int32_t>()[t]));
      reference::store(y, next.out.row<float>(t));
    }
  }
}

}  // namespace biogpu::models::proteinmpnn
