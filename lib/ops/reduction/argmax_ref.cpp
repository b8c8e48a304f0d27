#include "lib/ops/reduction/argmax.hpp"

#include <limits>

namespace biogpu::ops {

void argmax_ref(const Argmax& op) {
  for (std::int64_t r = 0; r < op.x.shape[0]; ++r) {
    const float* const x = op.x.row<float>(r);
    const std::uint8_t* allowed = nullptr;
    if (!op.allowed.empty())
      allowed = op.allowed.row<std::uint8_t>(op.rules.empty() ? 0 : op.rules.as<std::int32_t>()[r]);
    float best = -std::numeric_limits<float>::infinity();
    std::int32_t column = -1;
    for (std::int32_t c = 0; c < op.x.shape[1]; ++c) {
      const bool may = allowed == nullptr || allowed[c] != 0;
      if (may && (x[c] > best || (column < 0 && x[c] == best))) {
        best = x[c];
        column = c;
      }
    }
    op.out.as<std::int32_t>()[r] = column < 0 ? 0 : column;
    if (!op.value.empty()) op.value.as<float>()[r] = best;
  }
}

}  // namespace biogpu::ops
