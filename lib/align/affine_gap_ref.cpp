// The plain version: three full matrices, one cell after the other, and a path read off them.
// Recurrences of O. Gotoh, doi:10.1016/0022-2836(82)90398-9, with a gap of length L costing
// open + (L - 1) * extend. Cells outside a band, or dropped by X-drop, hold a value that no path
// can afford.
#include <algorithm>
#include <limits>

#include "lib/align/align.hpp"
#include "lib/align/border.hpp"
#include "lib/align/traceback.hpp"

namespace biogpu::align {
namespace {

constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::min() / 2;

// Cell (i, j) with i, j >= -1; index -1 is the border.
class Matrix {
 public:
  Matrix(std::int64_t n_rows, std::int64_t n_columns)
      : stride_(n_columns + 1), cells_((n_rows + 1) * (n_columns + 1), kImpossible) {}
  std::int64_t& operator()(std::int64_t i, std::int64_t j) {
    return cells_[(i + 1) * stride_ + j + 1];
  }
  std::int64_t operator()(std::int64_t i, std::int64_t j) const {
    return cells_[(i + 1) * stride_ + j + 1];
  }

 private:
  std::int64_t stride_;
  std::vector<std::int64_t> cells_;
};

class PairAligner {
 public:
  PairAligner(const Options& options, std::span<const std::uint8_t> query,
              std::span<const std::uint8_t> target)
      : options_(options),
        query_(query),
        target_(target),
        m_(std::ssize(query)),
        n_(std::ssize(target)),
        band_(options, m_, n_),
        h_(m_, n_),
        e_(m_, n_),
        f_(m_, n_) {}

  Alignment align(std::vector<std::uint32_t>& cigar) {
    fill();
    const EndPicker::End end = options_.mode == Mode::local ? local_end() : fixed_end();
    Alignment row;
    row.score = static_cast<std::int32_t>(end.score);
    if (options_.output == Output::score) return row;
    if (options_.mode == Mode::local && end.score == 0) return row;
    row.query_end = static_cast<std::int32_t>(end.i);
    row.target_end = static_cast<std::int32_t>(end.j);
    if (options_.output == Output::ends) return row;
    Traceback traceback(options_, query_, target_);
    traceback.start(end.i, end.j, end.score);
    traceback.run(0, [this](std::int64_t i, std::int64_t j) { return cell(i, j); });
    traceback.finish(row, cigar);
    return row;
  }

 private:
  // By anti-diagonals, the order that X-drop is defined in; position -1 is the border.
  void fill() {
    std::int64_t best = 0;
    for (std::int64_t d = -2; d <= m_ + n_ - 2; ++d) {
      std::int64_t greatest = best;
      for (std::int64_t i = std::max<std::int64_t>(-1, d - n_ + 1); i <= std::min(d + 1, m_ - 1);
           ++i) {
        const std::int64_t j = d - i;
        if (!band_.holds(i, j)) continue;
        fill_cell(i, j);
        if (is_extension(options_) && h_(i, j) < best - options_.xdrop)
          h_(i, j) = e_(i, j) = f_(i, j) = kImpossible;
        greatest = std::max(greatest, h_(i, j));
      }
      best = greatest;
    }
  }

  void fill_cell(std::int64_t i, std::int64_t j) {
    const Scoring& s = options_.scoring;
    if (i < 0) {
      h_(i, j) = top_border(options_, j + 1);
    } else if (j < 0) {
      h_(i, j) = left_border(options_, i + 1);
    } else {
      e_(i, j) = std::max(e_(i, j - 1) - s.gap_extend, h_(i, j - 1) - s.gap_open);
      f_(i, j) = std::max(f_(i - 1, j) - s.gap_extend, h_(i - 1, j) - s.gap_open);
      h_(i, j) = std::max({diagonal(i, j), e_(i, j), f_(i, j)});
      if (begins_anywhere(options_)) h_(i, j) = std::max<std::int64_t>(h_(i, j), 0);
    }
  }

  std::int64_t diagonal(std::int64_t i, std::int64_t j) const {
    return h_(i - 1, j - 1) + options_.scoring.score[query_[i]][target_[j]];
  }

  TraceCell cell(std::int64_t i, std::int64_t j) const {
    const Scoring& s = options_.scoring;
    return {h_(i, j) == diagonal(i, j), h_(i, j) == f_(i, j),
            h_(i, j) - s.gap_open > f_(i, j) - s.gap_extend,
            h_(i, j) - s.gap_open > e_(i, j) - s.gap_extend};
  }

  // The greatest H; among equals the smallest target position, then the smallest query position.
  EndPicker::End local_end() const {
    EndPicker::End end{0, 0, 0};
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i < m_; ++i)
        if (h_(i, j) > end.score) end = {h_(i, j), i, j};
    return end;
  }

  EndPicker::End fixed_end() const {
    EndPicker picker(options_, m_, n_);
    for (std::int64_t i = 0; i < m_; ++i)
      if (band_.holds(i, n_ - 1)) picker.offer_column(i, h_(i, n_ - 1));
    for (std::int64_t j = 0; j < n_; ++j)
      if (band_.holds(m_ - 1, j)) picker.offer_row(j, h_(m_ - 1, j));
    return picker.pick();
  }

  const Options& options_;
  std::span<const std::uint8_t> query_, target_;
  std::int64_t m_, n_;
  Band band_;
  Matrix h_, e_, f_;
};

}  // namespace

Alignments align_ref(const Work& work, const Options& options) {
  validate(work, options);
  const Int32Check check(options);
  Alignments result;
  result.rows.reserve(work.pairs.size());
  for (const Pair& pair : work.pairs) {
    const auto query = work.queries.sequence(pair.query);
    const auto target = work.targets.sequence(pair.target);
    check.require(query.size(), target.size());
    if (query.empty() || target.empty()) {
      result.rows.push_back(
          align_empty(options, std::ssize(query), std::ssize(target), result.cigar));
    } else {
      result.rows.push_back(PairAligner(options, query, target).align(result.cigar));
    }
  }
  return result;
}

// Row by row, by the recurrences of O. Gotoh, doi:10.1016/0022-2836(82)90398-9.
std::vector<std::int32_t> score_matrix(const Options& options, std::span<const std::uint8_t> query,
                                       std::span<const std::uint8_t> target) {
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
