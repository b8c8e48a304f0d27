// All scores of one pair, row by row. Recurrences of O. Gotoh, doi:10.1016/0022-2836(82)90398-9.
#include <algorithm>
#include <limits>

#include "lib/align/align.hpp"
#include "lib/align/border.hpp"

namespace biogpu::align {

std::vector<std::int32_t> score_matrix(const Options& options, std::span<const std::uint8_t> query,
                                       std::span<const std::uint8_t> target) {
  constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::min() / 2;
  require_int32(options, query.size(), target.size());
  const Scoring& s = options.scoring;
  const std::size_t m = query.size(), n = target.size();
  std::vector<std::int32_t> scores(m * n);
  std::vector<std::int64_t> above(n), f(n, kImpossible);  // H of the row before, F of this one
  for (std::size_t j = 0; j < n; ++j)
    above[j] = top_border(options, static_cast<std::int64_t>(j + 1));
  for (std::size_t i = 0; i < m; ++i) {
    std::int64_t diagonal = left_border(options, static_cast<std::int64_t>(i));
    std::int64_t left = left_border(options, static_cast<std::int64_t>(i + 1));
    std::int64_t e = kImpossible;
    for (std::size_t j = 0; j < n; ++j) {
      e = std::max(e - s.gap_extend, left - s.gap_open);
      f[j] = std::max(f[j] - s.gap_extend, above[j] - s.gap_open);
      left = std::max({diagonal + s.score[query[i]][target[j]], e, f[j]});
      if (options.mode == Mode::local) left = std::max<std::int64_t>(left, 0);
      diagonal = above[j];
      above[j] = left;
      scores[i * n + j] = static_cast<std::int32_t>(left);
    }
  }
  return scores;
}

}  // namespace biogpu::align
