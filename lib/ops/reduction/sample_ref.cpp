#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lib/core/philox.hpp"
#include "lib/ops/reduction/sample.hpp"

namespace biogpu::ops {

void sample_ref(const Sample& op) {
  const auto low = static_cast<std::uint32_t>(op.seed),
             high = static_cast<std::uint32_t>(op.seed >> 32);
  for (std::int64_t r = 0; r < op.logits.shape[0]; ++r) {
    std::vector<double> p;  // logits, then probabilities that do not sum to one
    double top = -std::numeric_limits<double>::infinity();
    for (std::int64_t c = 0; c < op.logits.shape[1]; ++c) {
      p.push_back(static_cast<double>(op.logits.row<float>(r)[c]) /
                  static_cast<double>(op.temperature));
      if (p.back() > top) top = p.back();
    }
    double sum = 0;
    for (double& z : p) {
      z = z == top && !(std::isinf(top) && top < 0) ? 1 : z < top ? std::exp(z - top) : 0;
      sum += z;
    }
    const auto number = [&](const Tensor& numbers, std::int64_t otherwise) {
      return static_cast<std::uint32_t>(numbers.empty() ? otherwise
                                                        : numbers.as<std::int32_t>()[r]);
    };
    const auto random =
        philox({number(op.steps, 0), number(op.streams, r), Sample::kPurpose, 0}, {low, high});
    const double wanted = philox_unit(random, 0) * sum;
    std::int32_t drawn = -1, last = 0;
    double passed = 0;
    for (std::size_t c = 0; c < p.size(); ++c) {
      passed += p[c];
      if (p[c] > 0) last = static_cast<std::int32_t>(c);
      if (drawn < 0 && passed > wanted) drawn = static_cast<std::int32_t>(c);
    }
    op.out.as<std::int32_t>()[r] = drawn < 0 ? last : drawn;
  }
}

}  // namespace biogpu::ops
