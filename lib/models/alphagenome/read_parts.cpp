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

std::vector<BinSum> ReadParts::shifted(std::span<const BinSum> sums,
                                       std::int64_t coarse_bin) const {
  std::vector<BinSum> result(sums.begin(), sums.end());
  for (BinSum& sum : result) {
    if (sum.begin == sum.end) {
      sum.begin = sum.end = 0;
      continue;
    }
    const std::int64_t first = begins[sum.window] * coarse_bin;
    sum.begin -= first;
    sum.end -= first;
  }
  return result;
}

std::vector<BinRows> ReadParts::shifted(std::span<const BinRows> rows,
                                        std::int64_t coarse_bin) const {
  std::vector<BinRows> result;
  for (std::size_t w = 0; w < rows.size(); ++w) {
    const std::int64_t first = begins.at(w) * coarse_bin;
    const bool is_empty = rows[w].begin == rows[w].end;
    result.push_back(is_empty ? BinRows{} : BinRows{rows[w].begin - first, rows[w].end - first});
  }
  return result;
}

std::vector<BinSum> as_sums(std::span<const BinRows> rows) {
  std::vector<BinSum> sums;
  for (std::size_t w = 0; w < rows.size(); ++w) sums.push_back({w, rows[w].begin, rows[w].end, 1});
  return sums;
}

std::optional<ReadParts> find_read_parts(std::span<const std::span<const BinSum>> sums,
                                         std::int64_t n_windows, std::int64_t n_rows,
                                         std::int64_t n_levels) {
  const std::int64_t coarse_bin = std::int64_t{1} << n_levels;
  std::vector<RowRange> read(static_cast<std::size_t>(n_windows), {n_rows, 0});
  for (const std::span<const BinSum> of_head : sums)
    for (const BinSum& sum : of_head) {
      if (sum.window >= read.size() || sum.begin < 0 || sum.end < sum.begin ||
          sum.end > n_rows * coarse_bin)
        throw std::out_of_range("a sum over bins that are not of a window");
      if (sum.begin == sum.end) continue;
      RowRange& range = read[sum.window];
      range.begin = std::min(range.begin, sum.begin / coarse_bin);
      range.end = std::max(range.end, divide_up(sum.end, coarse_bin));
    }
  const std::int64_t margin = part_margin(n_levels);
  ReadParts parts;
  for (const RowRange& range : read)
    parts.n_rows = std::max(parts.n_rows, std::max<std::int64_t>(range.size(), 1) + 2 * margin);
  parts.n_rows = rounded_size(parts.n_rows);  // few sizes, so that a device repeats passes
  if (2 * parts.n_rows > n_rows) return std::nullopt;
  for (const RowRange& range : read)
    parts.begins.push_back(
        std::clamp<std::int64_t>(range.begin - margin, 0, n_rows - parts.n_rows));
  return parts;
}

}  // namespace biogpu::models::alphagenome
