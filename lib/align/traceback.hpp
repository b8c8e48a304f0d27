#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/border.hpp"
#include "lib/align/cigar_builder.hpp"

namespace biogpu::align {

// How a cell (i, j) passes its value on. The open flags speak of the gap that leaves the cell, so
// that a kernel knows them when it is done with the cell.
struct TraceCell {
  bool diagonal;   // H came from H(i - 1, j - 1)
  bool insertion;  // H came from F; asked only when not diagonal; else it came from E
  bool f_opens;    // F(i + 1, j) opens from H(i, j) rather than extending F(i, j)
  bool e_opens;    // E(i, j + 1) opens from H(i, j) rather than extending E(i, j)
};

// Walks one path backwards. It can stop and go on, for matrices of which only a slab is at hand.
// Local paths stop where the score that is left reaches 0, so no stop flag is needed.
class Traceback {
 public:
  // builder: of an earlier traceback, whose memory is used again.
  Traceback(const Options& options, std::span<const std::uint8_t> query,
            std::span<const std::uint8_t> target, CigarBuilder builder = {})
      : options_(options), query_(query), target_(target), cigar_(std::move(builder)) {}

  // Starts at H(i, j) = score. The trailing end gap of a semi-global path is taken here.
  void start(std::int64_t i, std::int64_t j, std::int64_t score) {
    i_ = i;
    j_ = j;
    left_ = score;
    state_ = State::h;
    const auto m = static_cast<std::int64_t>(query_.size());
    const auto n = static_cast<std::int64_t>(target_.size());
    done_ = false;
    if (options_.mode != Mode::local) {
      cigar_.add(kCigarInsertion, static_cast<std::uint32_t>(m - 1 - i));
      cigar_.add(kCigarDeletion, static_cast<std::uint32_t>(n - 1 - j));
    }
  }

  bool done() const { return done_; }
  std::int64_t i() const { return i_; }
  std::int64_t j() const { return j_; }

  // Goes on while the path stays in rows >= first_row and columns >= first_column. cell(i, j)
  // returns a TraceCell.
  template <class Cell>
  void run(std::int64_t first_row, const Cell& cell, std::int64_t first_column = 0) {
    const std::int64_t last_i = std::max<std::int64_t>(first_row, 0);
    const std::int64_t last_j = std::max<std::int64_t>(first_column, 0);
    while (!done_ && i_ >= last_i && j_ >= last_j) {
      if (state_ == State::h)
        run_diagonal(cell, last_i, last_j);
      else
        run_gap(cell, last_i, last_j);
    }
    if (i_ < 0 || j_ < 0) done_ = true;
  }

  // Fills the statistics; with Output::cigar adds the leading end gap, appends the path and fills
  // begin positions and the CIGAR's place.
  void finish(Alignment& row, std::vector<std::uint32_t>& cigar) {
    row.matches = matches_;
    row.similar = similar_;
    row.length = length_;
    if (options_.output != Output::cigar) return cigar_.clear();
    std::int64_t query_begin = i_ + 1, target_begin = j_ + 1;
    if (!begins_anywhere(options_)) {
      cigar_.add(kCigarInsertion, static_cast<std::uint32_t>(i_ + 1));
      cigar_.add(kCigarDeletion, static_cast<std::uint32_t>(j_ + 1));
      const bool semiglobal = options_.mode == Mode::semiglobal;
      if (!semiglobal || !options_.free_ends.query_begin) query_begin = 0;
      if (!semiglobal || !options_.free_ends.target_begin) target_begin = 0;
    }
    row.query_begin = static_cast<std::int32_t>(query_begin);
    row.target_begin = static_cast<std::int32_t>(target_begin);
    row.cigar_begin = cigar.size();
    row.n_cigar = cigar_.flush(cigar);
  }

  // For the next traceback, which then takes no memory.
  CigarBuilder take_builder() { return std::move(cigar_); }

 private:
  enum class State { h, e, f };

  // Columns of two residues, up to a gap or the path's begin. What changes with every column is
  // kept in registers, and added up where it ends.
  template <class Cell>
  void run_diagonal(const Cell& cell, std::int64_t last_i, std::int64_t last_j) {
    const bool stops_at_0 = begins_anywhere(options_);
    const auto& score = options_.scoring.score;
    const std::uint8_t* const query = query_.data() + i_;
    const std::uint8_t* const target = target_.data() + j_;
    const std::int64_t most = std::min(i_ - last_i, j_ - last_j) + 1;
    std::int64_t left = left_, n = 0, n_run = 0;
    std::int32_t matches = 0, similar = 0;
    std::uint32_t op = kCigarEqual;
    for (; n < most; ++n) {
      if (stops_at_0 && left == 0) {
        done_ = true;
        break;
      }
      const TraceCell c = cell(i_ - n, j_ - n);
      if (!c.diagonal) {
        state_ = c.insertion ? State::f : State::e;
        break;
      }
      const std::uint8_t q = query[-n], t = target[-n];
      const std::int32_t worth = score[q][t];
      const std::uint32_t next = q == t ? kCigarEqual : kCigarMismatch;
      if (next != op) {
        cigar_.add(op, static_cast<std::uint32_t>(n - n_run));
        op = next;
        n_run = n;
      }
      matches += q == t;
      similar += worth > 0;
      left -= worth;
    }
    cigar_.add(op, static_cast<std::uint32_t>(n - n_run));
    i_ -= n, j_ -= n;
    left_ = left;
    length_ += static_cast<std::int32_t>(n);
    matches_ += matches;
    similar_ += similar;
    if (!done_ && state_ != State::h) add_gap_residue();
  }

  // Residues of a gap, up to the cell that it opened from.
  template <class Cell>
  void run_gap(const Cell& cell, std::int64_t last_i, std::int64_t last_j) {
    while (i_ >= last_i && j_ >= last_j) {
      const TraceCell c = cell(i_, j_);
      if (state_ == State::e ? c.e_opens : c.f_opens) {
        left_ += options_.scoring.gap_open - options_.scoring.gap_extend;
        state_ = State::h;
        return;
      }
      add_gap_residue();
    }
  }

  // Its cost is settled as an extension and corrected where the gap opened.
  void add_gap_residue() {
    left_ += options_.scoring.gap_extend;
    ++length_;
    if (state_ == State::f) {
      cigar_.add(kCigarInsertion, 1);
      --i_;
    } else {
      cigar_.add(kCigarDeletion, 1);
      --j_;
    }
  }

  const Options& options_;
  std::span<const std::uint8_t> query_, target_;
  CigarBuilder cigar_;
  std::int64_t i_ = 0, j_ = 0;
  std::int64_t left_ = 0;  // what the path is still worth, in state_
  std::int32_t matches_ = 0, similar_ = 0, length_ = 0;
  State state_ = State::h;
  bool done_ = false;
};

}  // namespace biogpu::align
