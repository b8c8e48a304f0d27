#include <algorithm>

#include "lib/ops/fill_zero.hpp"

namespace biogpu::ops {

void fill_zero_ref(const FillZero& op) { std::fill_n(op.x.as<float>(), op.x.size(), 0.0f); }

}  // namespace biogpu::ops
