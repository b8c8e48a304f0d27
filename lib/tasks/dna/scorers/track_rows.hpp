#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/tasks/dna/compare.hpp"

namespace biogpu::tasks {

// Predictions of a window: a row for each bin, a column for each track.
struct TrackRows {
  std::span<const float> values;
  std::int64_t n_tracks = 0;
  // Where only some of the rows are there: the first of these, and how many the window has.
  std::int64_t first = 0;
  std::int64_t n_rows = 0;  // 0: those of values

  std::int64_t size() const {
    if (n_rows > 0) return n_rows;
    return n_tracks == 0 ? 0 : std::ssize(values) / n_tracks;
  }
  const float* row(std::int64_t i) const { return values.data() + (i - first) * n_tracks; }
  bool holds(const BinRange& rows) const {
    return rows.begin >= first && (rows.end - first) * n_tracks <= std::ssize(values);
  }
};

// Rows that count, in ascending order, none of them twice.
using RowMask = std::vector<BinRange>;

// Sorted, joined where they touch or overlap, and cut to rows 0 to n_rows - 1.
RowMask make_mask(std::vector<BinRange> ranges, std::int64_t n_rows);
std::int64_t count_rows(const RowMask& mask);

// An allele of another length in a window, by whose rows (of one base each) the rows of its
// predictions are aligned with those of the reference: `anchor` is the last of its bases that both
// alleles have, counted from the left. The inserted bases and the anchor become one row, their
// maximum; deleted ones are rows of zeros behind the anchor. Alleles are taken to be
// left-aligned (as VCF has them after normalisation).
struct AlleleShift {
  std::int64_t anchor = 0;
  std::int64_t n_inserted = 0;  // less than 0: deleted

  bool operator==(const AlleleShift&) const = default;
};
// first: the base of the window that the alleles begin at.
AlleleShift find_shift(std::int64_t first, std::int64_t n_reference, std::int64_t n_alternate);

// Which of the alternate's n rows is row i of the aligned ones: a row, zeros, or the maximum of the
// inserted rows and the anchor's. As many rows at the end of the window as were inserted are
// zeros, whatever lies there.
inline constexpr std::int64_t kZeroRow = -1, kMaximumRow = -2;
std::int64_t find_source(const AlleleShift& shift, std::int64_t i, std::int64_t n);

// The alternate's rows that aligned rows are made of, from the first to the last: these, one after
// the other, but for rows of zeros; or one of them is the maximum of some. Empty: all are zeros.
struct SourceRows {
  BinRange rows;
  bool has_maximum = false;
};
SourceRows find_sources(const AlleleShift& shift, const BinRange& aligned, std::int64_t n);

// The rows of an alternate, aligned with those of the reference. Where only some are there, those
// that find_sources() gives for what is read must be.
class AlignedRows {
 public:
  AlignedRows(const TrackRows& alternate, const AlleleShift& shift);
  // As they are.
  explicit AlignedRows(const TrackRows& rows) : AlignedRows(rows, {}) {}

  std::int64_t n_tracks() const { return alternate_.n_tracks; }
  std::int64_t size() const { return alternate_.size(); }
  const float* row(std::int64_t i) const;

 private:
  const TrackRows alternate_;
  const AlleleShift shift_;
  std::vector<float> maximum_;  // of the inserted rows and the anchor's
  std::vector<float> zeros_;
};

// The sum of each track over the rows of a mask: of each range, then of these.
std::vector<double> sum_rows(const AlignedRows& rows, const RowMask& mask);

}  // namespace biogpu::tasks
