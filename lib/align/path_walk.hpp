#pragma once

#include <cstdint>
#include <span>

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
class PathWalk {
 public:
  PathWalk(const Options& options, std::span<const std::uint8_t> query,
           std::span<const std::uint8_t> target)
      : options_(options), query_(query), target_(target) {}

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
    const Scoring& s = options_.scoring;
    const bool stops_at_0 = begins_anywhere(options_);
    while (i_ >= first_row && j_ >= first_column && i_ >= 0 && j_ >= 0) {
      const TraceCell c = cell(i_, j_);
      if (state_ == State::e && c.e_opens) {
        left_ += s.gap_open - s.gap_extend;
        state_ = State::h;
      } else if (state_ == State::f && c.f_opens) {
        left_ += s.gap_open - s.gap_extend;
        state_ = State::h;
      }
      if (state_ == State::h) {
        if (stops_at_0 && left_ == 0) {
          done_ = true;
          return;
        }
        if (c.diagonal) {
          const std::uint8_t q = query_[i_], t = target_[j_];
          cigar_.add(q == t ? kCigarEqual : kCigarMismatch, 1);
          matches_ += q == t;
          similar_ += s.score[q][t] > 0;
          ++length_;
          left_ -= s.score[q][t];
          --i_, --j_;
          continue;
        }
        state_ = c.insertion ? State::f : State::e;
      }
      // One gap residue; its cost is settled as an extension and corrected where the gap opened.
      left_ += s.gap_extend;
      ++length_;
      if (state_ == State::f) {
        cigar_.add(kCigarInsertion, 1);
        --i_;
      } else {
        cigar_.add(kCigarDeletion, 1);
        --j_;
      }
    }
    if (i_ < 0 || j_ < 0) done_ = true;
  }

  // Fills the statistics; with Output::cigar adds the leading end gap, appends the path and fills
  // begin positions and the CIGAR's place.
  void finish(Alignment& row, std::vector<std::uint32_t>& cigar) {
    row.matches = matches_;
    row.similar = similar_;
    row.length = length_;
    if (options_.output != Output::cigar) return;
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

 private:
  enum class State { h, e, f };
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
