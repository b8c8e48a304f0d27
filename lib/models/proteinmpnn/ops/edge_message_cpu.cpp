#include <algorithm>

#include "lib/models/proteinmpnn/ops/edge_block.hpp"
#include "lib/models/proteinmpnn/ops/edge_message.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/panel_work.hpp"
#include "lib/ops/gemm/gemm_panels.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

// The sum of a node's messages, and their number; 0 of none for one that is absent.
void gather_node(const EdgeMessage& op, std::int64_t t, std::int64_t row, EdgeRoom& room,
                 float* sum, float* count) {
  const std::int64_t d = op.out.shape[1];
  const auto* const present = op.present.as<std::uint8_t>();
  if (present[row] == 0) {
    std::fill_n(sum, d, 0.0f);
    *count = 0;
    return;
  }
  const std::int64_t n = op.counts.as<std::int32_t>()[row];
  const auto* const senders = op.senders.row<std::int32_t>(t);
  std::vector<std::uint8_t> use(static_cast<std::size_t>(n), 1);
  for (std::int64_t e = 0; e < n; ++e) {
    const auto at = static_cast<std::size_t>(e);
    room.senders[at] = op.sender.row<float>(senders[e]);
    if (op.only_present) use[at] = present[senders[e]];
  }
  const EdgeRows rows{op.edges.row<float>(row), op.edges.stride[1], n, op.receiver.row<float>(t),
                      room.senders.data()};
  multiply_edges(op.edge, rows, d, room.edge_a);
  sum_messages(*op.middle, room.edge_a, n, use.data(), sum);
  *count = static_cast<float>(std::count(use.begin(), use.end(), 1));
}

void hand_on(const EdgeMessage& op, const EdgeMessage::Next& next, std::int64_t begin,
             std::int64_t end) {
  ops::gemm_part({op.out, next.linear, Activation::none, {}, next.out},
                 {begin, end, 0, ops::count_panels(next.linear->n_out)});
  if (next.table.empty()) return;
  for (std::int64_t t = begin; t < end; ++t) {
    const float* const added = next.table.row<float>(next.ids.as<std::int32_t>()[t]);
    float* const to = next.out.row<float>(t);
    for (std::int64_t c = 0; c < next.linear->n_out; ++c) to[c] += added[c];
  }
}

void gather_nodes(const EdgeMessage& op, std::int64_t begin, std::int64_t end, EdgeRoom& room) {
  const std::int64_t d = op.out.shape[1];
  const auto row_of = [&](std::int64_t t) -> std::int64_t {
    return op.edge_rows.empty() ? t : op.edge_rows.as<std::int32_t>()[t];
  };
  for (std::int64_t t = begin; t < end; ++t)
    gather_node(op, t, row_of(t), room, room.sums + (t - begin) * d, room.counts + (t - begin));
  float* const out = op.out.row<float>(begin);
  if (op.h.empty())
    std::fill_n(out, (end - begin) * d, 0.0f);
  else if (op.h.data != op.out.data)
    std::copy_n(op.h.row<float>(begin), (end - begin) * d, out);
  update_nodes(op.update, end - begin, room, out);
  for (std::int64_t t = begin; t < end; ++t)
    if (op.present.as<std::uint8_t>()[row_of(t)] == 0) std::fill_n(op.out.row<float>(t), d, 0.0f);
  for (const EdgeMessage::Next& next : op.next)
    if (next.linear != nullptr) hand_on(op, next, begin, end);
}

}  // namespace

void edge_message_cpu(CpuContext& context, const EdgeMessage& op) {
  const std::int64_t n = op.out.shape[0], k = op.senders.shape[1], d = op.out.shape[1];
  context.for_each((n + kNodesAtOnce - 1) / kNodesAtOnce, [&](std::int64_t block) {
    EdgeRoom room(context.scratch().reserve(EdgeRoom::floats(k, d)), k, d);
    gather_nodes(op, block * kNodesAtOnce, std::min(n, (block + 1) * kNodesAtOnce), room);
  });
}

}  // namespace biogpu::models::proteinmpnn
