#include "lib/models/alphagenome/read_parts.hpp"

#include <algorithm>
#include <stdexcept>

#include "lib/models/alphagenome/config.hpp"
#include "lib/models/layers/tower_reach.hpp"
#include "lib/models/layers/track_heads.hpp"

namespace biogpu::models::alphagenome {
namespace {

constexpr std::int64_t kHalf = (kTaps - 1) / 2;

std::int64_t divide_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// Coarse rows that are read of a window.
struct WindowRows {
  std::vector<RowRange> sums;  // each in one part
  RowRange rows = {};          // all in the first part
};

// Coarse rows of bases [begin, end), which are not none.
RowRange coarse_rows(std::int64_t begin, std::int64_t end, std::int64_t n_rows,
                     std::int64_t coarse_bin) {
  if (begin < 0 || end < begin || end > n_rows * coarse_bin)
    throw std::out_of_range("bins that are not of a window");
  return {begin / coarse_bin, divide_up(end, coarse_bin)};
}

// In the order of their first rows.
std::vector<WindowRows> rows_of_windows(const ReadBases& read, std::int64_t n_windows,
                                        std::int64_t n_rows, std::int64_t coarse_bin) {
  std::vector<WindowRows> windows(static_cast<std::size_t>(n_windows));
  for (const std::span<const BinSum> of_head : read.sums)
    for (const BinSum& sum : of_head) {
      const RowRange range = coarse_rows(sum.begin, sum.end, n_rows, coarse_bin);
      if (sum.begin < sum.end) windows.at(sum.window).sums.push_back(range);
    }
  for (const std::span<const BinRows> of_head : read.rows)
    for (std::size_t w = 0; w < of_head.size(); ++w) {
      const RowRange range = coarse_rows(of_head[w].begin, of_head[w].end, n_rows, coarse_bin);
      RowRange& all = windows.at(w).rows;
      if (of_head[w].size() == 0) continue;
      all = all.size() == 0
                ? range
                : RowRange{std::min(all.begin, range.begin), std::max(all.end, range.end)};
    }
  for (WindowRows& window : windows)
    std::sort(window.sums.begin(), window.sums.end(),
              [](const RowRange& x, const RowRange& y) { return x.begin < y.begin; });
  return windows;
}

// Adds parts until they have all rows of the windows.
void cover(ReadParts& parts, const std::vector<WindowRows>& windows) {
  const auto part_at = [&](std::size_t window, std::int64_t first) {
    return ReadParts::Part{window, std::clamp<std::int64_t>(first - parts.margin, 0,
                                                            parts.n_window_rows - parts.n_rows)};
  };
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const WindowRows& window = windows[w];
    const bool has_rows = window.rows.size() > 0;
    parts.parts.push_back(part_at(w, has_rows              ? window.rows.begin
                                     : window.sums.empty() ? 0
                                                           : window.sums.front().begin));
  }
  for (std::size_t w = 0; w < windows.size(); ++w) {
    ReadParts::Part last = parts.parts[w];
    for (const RowRange& rows : windows[w].sums) {
      if (parts.has(parts.parts[w], rows) || parts.has(last, rows)) continue;
      last = part_at(w, rows.begin);
      parts.parts.push_back(last);
    }
  }
  // Few numbers, so that a device repeats passes.
  const auto n_more = static_cast<std::int64_t>(parts.parts.size() - windows.size());
  parts.parts.resize(windows.size() + static_cast<std::size_t>(rounded_size(n_more)));
}

}  // namespace

std::vector<std::int64_t> encoder_taps(std::int64_t n_levels) {
  std::vector<std::int64_t> taps(static_cast<std::size_t>(n_levels), 2 * kTaps - 1);
  taps.front() = kLetterTaps + kTaps - 1;
  return taps;
}

std::int64_t part_margin(std::int64_t n_levels) {
  const std::vector<std::int64_t> taps = encoder_taps(n_levels);
  // Rows of each level that the decoder reads of the encoder.
  std::vector<std::int64_t> encoded;
  std::int64_t n = 0;
  for (const std::int64_t of_level : taps) {
    encoded.push_back(n + (of_level - 1) / 2);
    n = divide_up(encoded.back(), 2);
  }
  n = kHalf;  // the first convolution, over coarse rows that are right
  for (std::int64_t level = n_levels - 1; level >= 0; --level) {
    n = std::max(2 * n, encoded[static_cast<std::size_t>(level)]) + kHalf;
    if (level > 0) n += kHalf;  // and that of the next level
  }
  return divide_up(n, std::int64_t{1} << n_levels);
}

bool ReadParts::has(const Part& part, const RowRange& rows) const {
  const std::int64_t end = part.begin + n_rows;
  return (part.begin == 0 || rows.begin >= part.begin + margin) &&
         (end == n_window_rows ? rows.end <= end : rows.end <= end - margin);
}

std::vector<BinSum> ReadParts::shifted(std::span<const BinSum> sums) const {
  std::vector<BinSum> result(sums.begin(), sums.end());
  for (BinSum& sum : result) {
    if (sum.begin == sum.end) {
      sum.begin = sum.end = 0;
      continue;
    }
    const RowRange rows = coarse_rows(sum.begin, sum.end, n_window_rows, coarse_bin);
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& of_window) {
      return of_window.window == sum.window && has(of_window, rows);
    });
    if (part == parts.end()) throw std::out_of_range("bins that are not of a part");
    sum.window = static_cast<std::size_t>(part - parts.begin());
    sum.begin -= part->begin * coarse_bin;
    sum.end -= part->begin * coarse_bin;
  }
  return result;
}

std::vector<BinRows> ReadParts::shifted(std::span<const BinRows> rows) const {
  std::vector<BinRows> result;
  for (std::size_t w = 0; w < rows.size(); ++w) {
    const std::int64_t first = parts.at(w).begin * coarse_bin;
    const bool is_empty = rows[w].begin == rows[w].end;
    result.push_back(is_empty ? BinRows{} : BinRows{rows[w].begin - first, rows[w].end - first});
  }
  return result;
}

std::optional<ReadParts> find_read_parts(const ReadBases& read, std::int64_t n_windows,
                                         std::int64_t n_rows, std::int64_t n_levels) {
  ReadParts parts;
  parts.coarse_bin = std::int64_t{1} << n_levels;
  parts.margin = part_margin(n_levels);
  parts.n_window_rows = n_rows;
  const std::vector<WindowRows> windows =
      rows_of_windows(read, n_windows, n_rows, parts.coarse_bin);
  std::int64_t longest = 1;  // that has to be in one part
  for (const WindowRows& window : windows) {
    longest = std::max(longest, window.rows.size());
    for (const RowRange& rows : window.sums) longest = std::max(longest, rows.size());
  }
  std::optional<ReadParts> best;
  std::int64_t n_best = n_rows * n_windows / 2;
  for (std::int64_t n = rounded_size(longest + 2 * parts.margin); 2 * n <= n_rows;
       n = rounded_size(n + 1)) {
    parts.n_rows = n;
    parts.parts.clear();
    cover(parts, windows);
    const std::int64_t n_all = n * std::ssize(parts.parts);
    if (n_all > n_best) continue;
    n_best = n_all;
    best = parts;
  }
  return best;
}

}  // namespace biogpu::models::alphagenome
