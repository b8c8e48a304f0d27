#include <cmath>
#include <limits>
#include <vector>

#include "lib/core/philox.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reduction/sample.hpp"

namespace biogpu::ops {
namespace {

// The running sums of a row of logits, of which none decreases; returns the column that a uniform
// number stands for.
std::int32_t draw_column(const float* logits, double temperature, double uniform,
                         std::vector<double>& sums) {
  float top = -std::numeric_limits<float>::infinity();
  for (std::size_t c = 0; c < sums.size(); ++c)
    if (logits[c] > top) top = logits[c];
  if (top == -std::numeric_limits<float>::infinity()) return 0;
  const double highest = static_cast<double>(top) / temperature;
  double sum = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (logits[c] == top) {
      sum += 1;
    } else if (logits[c] < top) {  // and not a NaN
      sum += std::exp(static_cast<double>(logits[c]) / temperature - highest);
    }
    sums[c] = sum;
  }
  const double wanted = uniform * sum;
  // The first sum above; where rounding leaves none, the first that is all of it.
  std::size_t c = 0;
  while (c + 1 < sums.size() && !(sums[c] > wanted) && sums[c] < sum) ++c;
  return static_cast<std::int32_t>(c);
}

}  // namespace

void sample_cpu(CpuContext& context, const Sample& op) {
  const auto* const streams = op.streams.as<std::int32_t>();
  const auto* const steps = op.steps.as<std::int32_t>();
  context.for_rows(op.logits.shape[0], [&](std::int64_t r, std::int64_t end) {
    std::vector<double> sums(static_cast<std::size_t>(op.logits.shape[1]));
    for (; r < end; ++r) {
      const auto stream = static_cast<std::uint32_t>(streams != nullptr ? streams[r] : r);
      std::uint32_t random[4] = {steps != nullptr ? static_cast<std::uint32_t>(steps[r]) : 0u,
                                 stream, Sample::kPurpose, 0};
      philox(random, static_cast<std::uint32_t>(op.seed),
             static_cast<std::uint32_t>(op.seed >> 32));
      op.out.as<std::int32_t>()[r] =
          draw_column(op.logits.row<float>(r), static_cast<double>(op.temperature),
                      philox_unit(random[0], random[1]), sums);
    }
  });
}

}  // namespace biogpu::ops
