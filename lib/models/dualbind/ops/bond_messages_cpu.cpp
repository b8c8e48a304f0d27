#include <algorithm>

#include "lib/models/dualbind/ops/bond_messages.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::dualbind {

void bond_messages_cpu(CpuContext& context, const BondMessages& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const order = op.order.as<std::int32_t>();
  const std::int64_t d = op.out.shape[1];
  context.for_rows(op.out.shape[0], [&](std::int64_t r, std::int64_t last) {
    for (; r < last; ++r) {
      const std::int64_t atom = op.atoms.empty() ? r : op.atoms.as<std::int32_t>()[r];
      float* const out = op.out.row<float>(r);
      std::fill_n(out, d, 0.0f);
      for (std::int32_t e = starts[atom]; e < starts[atom + 1]; ++e) {
        const float* const m = op.m.row<float>(order[e]);
        for (std::int64_t c = 0; c < d; ++c) out[c] += std::max(m[c], 0.0f);
      }
      if (op.without.empty()) continue;
      const float* const m = op.m.row<float>(op.without.as<std::int32_t>()[r]);
      for (std::int64_t c = 0; c < d; ++c) out[c] -= std::max(m[c], 0.0f);
    }
  });
}

}  // namespace biogpu::models::dualbind
