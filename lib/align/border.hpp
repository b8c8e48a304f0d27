#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/align/align.hpp"

namespace biogpu::align {

// What every backend must agree on outside the inner cells: the border of the matrix, the rule that
// picks the end of a semi-global alignment, and pairs with an empty side.

// Whether an alignment begins at the first residues and ends at its best cell: X-drop.
inline bool is_extension(const Options& options) {
  return options.mode == Mode::local && options.xdrop != kNoXdrop;
}

// Local in the sense that H has a floor of 0 and paths begin anywhere.
inline bool begins_anywhere(const Options& options) {
  return options.mode == Mode::local && options.xdrop == kNoXdrop;
}

// Whether the path must be followed back.
inline bool wants_path(const Options& options) {
  return options.output == Output::statistics || options.output == Output::cigar;
}

// Cost of a gap of `length` >= 1: open + (length - 1) * extend.
inline std::int64_t gap_cost(const Scoring& scoring, std::int64_t length) {
  return scoring.gap_open + (length - 1) * scoring.gap_extend;
}

// H on the left border after `length` query residues (column -1, row length - 1); 0 for none.
inline std::int64_t left_border(const Options& options, std::int64_t length) {
  if (length == 0 || begins_anywhere(options)) return 0;
  if (options.mode == Mode::semiglobal && options.free_ends.query_begin) return 0;
  return -gap_cost(options.scoring, length);
}

// H on the top border after `length` target residues (row -1, column length - 1); 0 for none.
inline std::int64_t top_border(const Options& options, std::int64_t length) {
  if (length == 0 || begins_anywhere(options)) return 0;
  if (options.mode == Mode::semiglobal && options.free_ends.target_begin) return 0;
  return -gap_cost(options.scoring, length);
}

// The diagonals j - i that paths may touch; all where there is no band.
struct Band {
  std::int64_t low, high;
  Band(const Options& options, std::int64_t query_length, std::int64_t target_length)
      : low(-query_length - 1), high(target_length + 1) {
    if (options.band == kNoBand) return;
    const std::int64_t skew = target_length - query_length;
    low = std::max(low, std::min<std::int64_t>(0, skew) - options.band);
    high = std::min(high, std::max<std::int64_t>(0, skew) + options.band);
  }
  bool holds(std::int64_t i, std::int64_t j) const { return low <= j - i && j - i <= high; }
};

// The end of a global or semi-global alignment, offered the last column top down and then the last
// row left to right. Among equals the last row wins over the last column, the leftmost over the
// others and the corner over none: Parasail's order.
class EndPicker {
 public:
  EndPicker(const Options& options, std::int64_t query_length, std::int64_t target_length)
      : column_(options.mode == Mode::semiglobal && options.free_ends.query_end),
        row_(options.mode == Mode::semiglobal && options.free_ends.target_end),
        last_i_(query_length - 1),
        last_j_(target_length - 1) {}

  bool wants_column() const { return column_; }
  bool wants_row() const { return row_; }

  // H(i, last column), for i = 0, 1, ... in order.
  void offer_column(std::int64_t i, std::int64_t score) {
    if (column_ && i < last_i_ && (!column_found_ || score > column_score_)) {
      column_found_ = true;
      column_score_ = score;
      column_i_ = i;
    }
  }

  // H(last row, j), for j = 0, 1, ... in order. The last one, the corner, must always be offered.
  void offer_row(std::int64_t j, std::int64_t score) {
    if (j == last_j_) {
      corner_score_ = score;
    } else if (row_ && (!row_found_ || score > row_score_)) {
      row_found_ = true;
      row_score_ = score;
      row_j_ = j;
    }
  }

  struct End {
    std::int64_t score, i, j;
  };
  End pick() const {
    End end{corner_score_, last_i_, last_j_};
    if (column_found_ && column_score_ >= end.score) end = {column_score_, column_i_, last_j_};
    if (row_found_ && row_score_ >= end.score) end = {row_score_, last_i_, row_j_};
    return end;
  }

 private:
  bool column_, row_;
  bool column_found_ = false, row_found_ = false;
  std::int64_t last_i_, last_j_;
  std::int64_t column_score_ = 0, column_i_ = 0;
  std::int64_t row_score_ = 0, row_j_ = 0;
  std::int64_t corner_score_ = 0;
};

// A pair of which one or both sides are empty: one gap that is a leading and a trailing one at once
// and is therefore free when either end of the other sequence is. Appends the path where asked for.
// Positions are those of a global alignment; local: score 0, positions 0, no path.
Alignment align_empty(const Options& options, std::int64_t query_length, std::int64_t target_length,
                      std::vector<std::uint32_t>& cigar);

// Refuses pairs of which a length or a possible score does not fit 32 bits.
class Int32Check {
 public:
  explicit Int32Check(const Options& options);
  // Throws Error{failed}.
  void require(std::uint64_t query_length, std::uint64_t target_length) const {
    if (!fits(query_length, target_length)) refuse(query_length, target_length);
  }

  bool fits(std::uint64_t query_length, std::uint64_t target_length) const;

 private:
  [[noreturn]] static void refuse(std::uint64_t query_length, std::uint64_t target_length);
  std::int64_t max_score_, gap_open_, gap_extend_;
};

// The check of one pair.
void require_int32(const Options& options, std::uint64_t query_length, std::uint64_t target_length);

// Throws Error{failed} when Work is not what align.hpp says: a pair outside the sets, costs below
// 0.
void validate(const Work& work, const Options& options);

}  // namespace biogpu::align
