#include <cstring>

#include "lib/ops/elementwise/fill_zero.hpp"

namespace biogpu::ops {

void fill_zero_cpu(CpuContext&, const FillZero& op) {
  if (op.x.bytes() > 0) std::memset(op.x.data, 0, op.x.bytes());
}

}  // namespace biogpu::ops
