#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "lib/models/proteinmpnn/ops/draw_letter.hpp"

// What decoding on the host does around the layers of a residue, on any kind of context.
namespace biogpu::models::proteinmpnn {

// A unit while its members are decoded.
struct UnitProgress {
  std::array<float, kLetterCount> scaled{};  // logits over the temperature, summed over members
  int known = -1;  // the letter of a member that is absent, which all take
};

void log_softmax_letters(const float* logits, float* out);

// Before anything is decoded: h is the encoder's in layer 0, and states add nothing in the others.
void begin_states(const Decode& op);
// A member's logits.
void take_logits(const Decode& op, const Unit& unit, std::int64_t i, const float* logits,
                 UnitProgress& progress);
// Draws the unit's letter, which joins what members add to their neighbours.
void finish_unit(const Decode& op, const Unit& unit, const UnitProgress& progress);

inline std::int32_t member_of(const Decode& op, const Unit& unit, std::int32_t m) {
  return op.order.as<std::int32_t>()[op.sequences[unit.sequence].first_state + unit.begin + m];
}
// What residue i adds as sender in a layer, while it is not decoded, and once it is.
inline float* row_node_proj(const Decode& op, std::int64_t row, int layer) {
  return op.node_proj.row<float>(row) + layer * 2 * kHidden;
}
inline float* state_node_proj(const Decode& op, std::int64_t state, int layer) {
  return op.node_proj.row<float>(op.rows.shape[0] + state) + layer * 2 * kHidden;
}
// The one that counts for residue i's neighbour `row`: by whether that comes before i in the order.
inline const float* sender_of(const Decode& op, const Sequence& sequence, std::int64_t i,
                              std::int32_t row, int layer) {
  const auto* const rank = op.rank.as<std::int32_t>() + sequence.first_state;
  const std::int32_t j = row - sequence.first_row;
  return (rank[j] < rank[i] ? state_node_proj(op, sequence.first_state + j, layer)
                            : row_node_proj(op, row, layer)) +
         kHidden;
}

}  // namespace biogpu::models::proteinmpnn
