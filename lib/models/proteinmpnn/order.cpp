#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/models/proteinmpnn/sample.hpp"

namespace biogpu::models::proteinmpnn {

DecodingOrder make_order(const Constraints& constraints, const std::vector<float>& noise) {
  const std::size_t n = constraints.free.size();
  std::vector<float> key(n);
  for (std::size_t i = 0; i < n; ++i)
    key[i] = (static_cast<float>(constraints.free[i]) + 0.0001f) * std::abs(noise[i]);
  std::vector<std::int32_t> sorted(n), group_of(n, -1);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
    return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
  });
  for (std::size_t g = 0; g < constraints.tied.size(); ++g)
    for (const std::int32_t i : constraints.tied[g])
      group_of[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(g);
  DecodingOrder order;
  order.rank.assign(n, -1);
  const auto append = [&](std::int32_t i) {
    order.rank[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(order.residues.size());
    order.residues.push_back(i);
  };
  for (const std::int32_t i : sorted) {
    const auto at = static_cast<std::size_t>(i);
    if (order.rank[at] >= 0) continue;
    order.unit_begin.push_back(static_cast<std::int32_t>(order.residues.size()));
    if (group_of[at] < 0) {
      append(i);
    } else {
      for (const std::int32_t member : constraints.tied[static_cast<std::size_t>(group_of[at])])
        append(member);
    }
  }
  order.unit_begin.push_back(static_cast<std::int32_t>(n));
  return order;
}

}  // namespace biogpu::models::proteinmpnn
