#include <cstring>

#include "lib/ops/elementwise/fill_zero.hpp"

namespace biogpu::ops {

void fill_zero_ref(const FillZero& op) {
  if (op.x.size() > 0) std::memset(op.x.data, 0, op.x.bytes());  // of either type
}

}  // namespace biogpu::ops
