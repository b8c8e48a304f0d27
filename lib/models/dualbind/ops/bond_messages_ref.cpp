#include <vector>

#include "lib/models/dualbind/ops/bond_messages.hpp"

namespace biogpu::models::dualbind {
namespace {

// And not a number stays so.
double relu(float x) { return x < 0 ? 0.0 : static_cast<double>(x); }

}  // namespace

void bond_messages_ref(const BondMessages& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const order = op.order.as<std::int32_t>();
  for (std::int64_t r = 0; r < op.out.shape[0]; ++r) {
    const std::int64_t atom = op.atoms.empty() ? r : op.atoms.as<std::int32_t>()[r];
    for (std::int64_t c = 0; c < op.out.shape[1]; ++c) {
      double sum = 0;
      for (std::int32_t e = starts[atom]; e < starts[atom + 1]; ++e)
        sum += relu(op.m.row<float>(order[e])[c]);
      if (!op.without.empty()) sum -= relu(op.m.row<float>(op.without.as<std::int32_t>()[r])[c]);
      op.out.row<float>(r)[c] = static_cast<float>(sum);
    }
  }
}

}  // namespace biogpu::models::dualbind
