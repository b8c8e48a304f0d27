#include "lib/ops/reduction/range_sum.hpp"

namespace biogpu::ops {

void range_sum_ref(const RangeSum& op) {
  const auto* const columns = op.columns.as<std::int32_t>();
  for (std::int64_t r = 0; r < op.out.shape[0]; ++r) {
    const auto* const range = op.ranges.row<std::int32_t>(r);
    for (std::int64_t c = 0; c < op.out.shape[1]; ++c) {
      const std::int64_t column = columns != nullptr ? columns[c] : c;
      double sum = 0;
      for (std::int64_t t = range[0]; t < range[1]; ++t)
        sum += op.factors.as<double>()[r] * static_cast<double>(op.x.row<float>(t)[column]);
      op.out.row<double>(r)[c] = sum;
    }
  }
}

}  // namespace biogpu::ops
