#include "lib/tasks/dna/scorers/track_rows.hpp"

#include <algorithm>

#include "lib/tasks/dna/scorers/larger_or_nan.hpp"

namespace biogpu::tasks {

RowMask make_mask(std::vector<BinRange> ranges, std::int64_t n_rows) {
  std::sort(ranges.begin(), ranges.end(),
            [](const BinRange& a, const BinRange& b) { return a.begin < b.begin; });
  RowMask mask;
  for (BinRange range : ranges) {
    range = {std::max<std::int64_t>(range.begin, 0), std::min(range.end, n_rows)};
    if (range.begin >= range.end) continue;
    if (!mask.empty() && range.begin <= mask.back().end)
      mask.back().end = std::max(mask.back().end, range.end);
    else
      mask.push_back(range);
  }
  return mask;
}

std::int64_t count_rows(const RowMask& mask) {
  std::int64_t n = 0;
  for (const BinRange& range : mask) n += range.end - range.begin;
  return n;
}

AlleleShift find_shift(std::int64_t first, std::int64_t n_reference, std::int64_t n_alternate) {
  return {first + std::min(n_reference, n_alternate) - 1, n_alternate - n_reference};
}

AlignedRows::AlignedRows(const TrackRows& alternate, const AlleleShift& shift)
    : alternate_(alternate), shift_(shift) {
  if (shift_.n_inserted == 0) return;
  const std::int64_t n_tracks = alternate_.n_tracks, first = shift_.anchor;
  zeros_.resize(static_cast<std::size_t>(n_tracks));
  if (shift_.n_inserted < 0 || first < 0 || first >= size()) return;
  const std::int64_t end = std::min(size(), first + shift_.n_inserted + 1);
  if (!alternate_.holds({first, end})) return;  // none that is read
  maximum_.assign(alternate_.row(first), alternate_.row(first) + n_tracks);
  for (std::int64_t i = first + 1; i < end; ++i)
    for (std::int64_t t = 0; t < n_tracks; ++t) {
      float& maximum = maximum_[static_cast<std::size_t>(t)];
      maximum = larger_or_nan(maximum, alternate_.row(i)[t]);
    }
}

std::int64_t find_source(const AlleleShift& shift, std::int64_t i, std::int64_t n) {
  const std::int64_t n_inserted = shift.n_inserted;
  if (n_inserted > 0) {
    if (i >= n - n_inserted) return kZeroRow;
    if (i == shift.anchor) return kMaximumRow;
    return i < shift.anchor ? i : i + n_inserted;
  }
  if (n_inserted == 0 || i <= shift.anchor) return i;
  return i <= shift.anchor - n_inserted ? kZeroRow : i + n_inserted;
}

SourceRows find_sources(const AlleleShift& shift, const BinRange& aligned, std::int64_t n) {
  const std::int64_t anchor = shift.anchor, inserted = shift.n_inserted;
  BinRange rows = aligned;
  bool has_maximum = false;
  if (inserted > 0) {
    rows.end = std::min(rows.end, n - inserted);
    if (rows.begin >= rows.end) return {};
    has_maximum = rows.begin <= anchor && anchor < rows.end;
    if (rows.begin > anchor) rows.begin += inserted;
    if (rows.end > anchor) rows.end += inserted;
  } else if (inserted < 0) {
    // Behind the anchor, as many rows as were deleted are zeros.
    if (rows.begin > anchor) rows.begin = std::max(rows.begin + inserted, anchor + 1);
    if (rows.end > anchor) rows.end = std::max(rows.end + inserted, anchor + 1);
  }
  if (rows.begin >= rows.end) return {};
  return {rows, has_maximum};
}

const float* AlignedRows::row(std::int64_t i) const {
  const std::int64_t source = find_source(shift_, i, size());
  if (source >= 0) return alternate_.row(source);
  return source == kZeroRow ? zeros_.data() : maximum_.data();
}

std::vector<double> sum_rows(const AlignedRows& rows, const RowMask& mask) {
  std::vector<double> sums(static_cast<std::size_t>(rows.n_tracks()));
  std::vector<double> of_range(sums.size());
  for (const BinRange& range : mask) {
    std::fill(of_range.begin(), of_range.end(), 0.0);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const float* const row = rows.row(i);
      for (std::size_t t = 0; t < sums.size(); ++t) of_range[t] += static_cast<double>(row[t]);
    }
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += of_range[t];
  }
  return sums;
}

}  // namespace biogpu::tasks
