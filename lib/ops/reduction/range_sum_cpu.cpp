#include <algorithm>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reduction/range_sum.hpp"

namespace biogpu::ops {
namespace {

// Columns that a thread adds up at a time: runs of 2 KB in rows of x.
constexpr std::int64_t kColumnsOfTask = 512;

// Columns [begin, end) of a range, row after row.
void sum_columns_of_range(const RangeSum& op, std::int64_t r, std::int64_t begin,
                          std::int64_t end) {
  const auto* const columns = op.columns.as<std::int32_t>();
  const auto* const range = op.ranges.row<std::int32_t>(r);
  const double factor = op.factors.as<double>()[r];
  double* const out = op.out.row<double>(r);
  std::fill(out + begin, out + end, 0.0);
  for (std::int64_t t = range[0]; t < range[1]; ++t) {
    const float* const row = op.x.row<float>(t);
    if (columns == nullptr)
      for (std::int64_t c = begin; c < end; ++c) out[c] += factor * static_cast<double>(row[c]);
    else
      for (std::int64_t c = begin; c < end; ++c)
        out[c] += factor * static_cast<double>(row[columns[c]]);
  }
}

}  // namespace

void range_sum_cpu(CpuContext& context, const RangeSum& op) {
  const std::int64_t d = op.out.shape[1], n_parts = (d + kColumnsOfTask - 1) / kColumnsOfTask;
  context.for_each(op.out.shape[0] * n_parts, [&](std::int64_t task) {
    const std::int64_t begin = task % n_parts * kColumnsOfTask;
    sum_columns_of_range(op, task / n_parts, begin, std::min(d, begin + kColumnsOfTask));
  });
}

}  // namespace biogpu::ops
