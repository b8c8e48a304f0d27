#include "lib/models/proteinmpnn/ops/decode_units.hpp"
#include "lib/models/proteinmpnn/ops/edge_layers.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

using reference::Row;

// All layers of residue i in double precision; its logits.
Row decode_residue(const Decode& op, const Sequence& sequence, std::int64_t i) {
  const std::int64_t row = sequence.first_row + i;
  const std::int32_t n = op.counts.as<std::int32_t>()[row];
  Row h = reference::row_of(op.h.row<float>(row), kHidden);
  Row receiver = reference::row_of(row_node_proj(op, row, 0), kHidden);
  for (int l = 0; l < kLayers; ++l) {
    const DecoderLayer& layer = op.layer[l];
    Row sum(kHidden, 0.0);
    for (std::int32_t e = 0; e < n; ++e) {
      Row x = reference::plus(
          receiver, reference::row_of(
                        op.edges.row<float>(row) + e * op.edges.stride[1] + l * kHidden, kHidden));
      reference::add(x, sender_of(op, sequence, i, op.rows.row<std::int32_t>(row)[e], l));
      sum = reference::plus(
          sum, reference::gelu(reference::multiply(*layer.middle, reference::gelu(x))));
    }
    const Row change = reference::multiply(*layer.update.last, sum, n);
    h = reference::layer_norm(reference::plus(h, change), layer.update.before);
    const Row inner = reference::gelu(reference::multiply(*layer.update.in, h));
    h = reference::layer_norm(reference::plus(h, reference::multiply(*layer.update.out, inner)),
                              layer.update.after);
    if (l + 1 == kLayers) break;
    const Row node_proj = reference::multiply(*op.layer[l + 1].node_proj, h);
    receiver.assign(node_proj.begin(), node_proj.begin() + kHidden);
    reference::store({node_proj.begin() + kHidden, node_proj.end()},
                     state_node_proj(op, sequence.first_state + i, l + 1) + kHidden);
  }
  return reference::multiply(*op.logits, h);
}

}  // namespace

// One unit after the other, in their order.
void decode_ref(const Decode& op) {
  begin_states(op);
  for (std::int64_t u = 0; u < op.n_units; ++u) {
    const Unit& unit = op.units[u];
    const Sequence& sequence = op.sequences[unit.sequence];
    UnitProgress progress;
    for (std::int32_t m = 0; m < unit.n && progress.known < 0; ++m) {
      const std::int64_t i = member_of(op, unit, m);
      if (op.present.as<std::uint8_t>()[sequence.first_row + i] == 0) {
        progress.known = op.letters.as<std::int32_t>()[sequence.first_state + i];
        continue;
      }
      float logits[kLetterCount];
      reference::store(decode_residue(op, sequence, i), logits);
      take_logits(op, unit, i, logits, progress);
    }
    finish_unit(op, unit, progress);
  }
}

}  // namespace biogpu::models::proteinmpnn
