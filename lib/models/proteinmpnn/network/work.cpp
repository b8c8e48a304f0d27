#include "lib/models/proteinmpnn/network/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/core/error.hpp"

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

void throw_not_finite(const Complex& complex) {
  throw Error(ErrorCode::failed,
              complex.name + ": the result is NaN or infinite; look at the weights");
}

void throw_no_letter(const Complex& complex, const Sample& sample, std::int64_t i) {
  if (!std::isfinite(sample.log_probabilities[static_cast<std::size_t>(i) * kLetterRow]))
    throw_not_finite(complex);
  const auto c = static_cast<std::size_t>(complex.chain[static_cast<std::size_t>(i)]);
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: position {} of chain {} may have no residue: all are omitted",
                          complex.name, i - complex.begin[c] + 1, complex.chains[c]));
}

}  // namespace biogpu::models::proteinmpnn
