#include "lib/align/cpu/long/long_pair.hpp"

#include <algorithm>
#include <cmath>

#include "lib/align/cpu/group/group.hpp"
#include "lib/align/cpu/long/long_slab.hpp"

namespace biogpu::align {
namespace {

constexpr std::int64_t kMinRows = 256;
constexpr std::int64_t kMinColumns = 256;
// Rows kept of one level: as many as this, or as fit.
constexpr std::int64_t kCheckpoints = 16;

std::int64_t round_up(std::int64_t rows) { return (rows + kMaxLanes - 1) / kMaxLanes * kMaxLanes; }

// Columns between those that are kept in addition to the rows; 0: none. As far apart as rows, and
// no more of them than fit: the parts between rows are then cut into blocks, of which a path
// crosses few.
std::int64_t column_distance(std::int64_t n_rows, std::int64_t n_columns,
                             const LongLimits& limits) {
  const std::int64_t most = limits.checkpoint_bytes / (8 * std::max<std::int64_t>(n_rows, 1));
  if (most == 0) return 0;
  const auto best = static_cast<std::int64_t>(4 * std::sqrt(static_cast<double>(n_columns)));
  return round_up(std::max({best, kMinColumns, (n_columns + most - 1) / most}));
}

// Rows between checkpoints. Where memory allows, the sum of checkpoints (8 bytes) and slab (half a
// byte) is least near 4 sqrt(rows).
std::int64_t checkpoint_distance(std::int64_t n_rows, std::int64_t n_columns,
                                 const LongLimits& limits) {
  const auto best = static_cast<std::int64_t>(4 * std::sqrt(static_cast<double>(n_rows)));
  const std::int64_t most =
      std::max(kCheckpoints, limits.checkpoint_bytes / (8 * std::max<std::int64_t>(n_columns, 1)));
  return round_up(std::max({best, kMinRows, (n_rows + most - 1) / most}));
}

void fill_top(const Options& options, const Slab& slab) {
  for (std::int64_t j = 0; j < slab.n_columns; ++j) {
    slab.h_row[j] = static_cast<std::int32_t>(top_border(options, j + 1));
    slab.f_row[j] = slab.h_row[j] - options.scoring.gap_open;
  }
}

class LongPair {
 public:
  LongPair(const Options& options, const PairScores& scores, std::span<const std::uint8_t> query,
           std::span<const std::uint8_t> target, Scratch& scratch, const LongLimits& limits)
      : options_(options),
        limits_(limits),
        m_(std::ssize(query)),
        n_(std::ssize(target)),
        slab_{.options = &options, .scores = scores, .query = query, .target = target},
        traceback_(options, query, target) {
    slab_.small_table = has_small_table(options.scoring);
    slab_.scratch = &scratch;
    slab_.h_row = scratch.h.get<std::int32_t>(n_ + kMaxLanes);
    slab_.f_row = scratch.e.get<std::int32_t>(n_ + kMaxLanes);
  }

  Alignment align(std::vector<std::uint32_t>& cigar) {
    const bool with_path = wants_path(options_), local = options_.mode == Mode::local;
    EndPicker picker(options_, m_, n_);
    SlabResult result;
    result.picker = &picker;
    slab_.n_columns = n_;
    fill_top(options_, slab_);
    Level level;
    slab_.end_row = m_;
    fill_level(level, with_path, result);
    const EndPicker::End end = local ? result.local_end : picker.pick();

    Alignment row;
    row.score = static_cast<std::int32_t>(end.score);
    if (options_.output == Output::score || (local && end.score == 0)) return row;
    row.query_end = static_cast<std::int32_t>(end.i);
    row.target_end = static_cast<std::int32_t>(end.j);
    if (!with_path) return row;
    traceback_.start(end.i, end.j, end.score);
    traceback_level(level);
    traceback_.finish(row, cigar);
    return row;
  }

 private:
  // Rows and columns kept of one part of the matrix.
  struct Level {
    std::int64_t first_row = 0, first_column = 0, distance = 0, n_columns = 0;
    std::int64_t column_distance = 0, column_stride = 0;
    LeftBorder left;
    AlignedBuffer checkpoints, columns;
  };

  // Computes the part of the matrix that slab_ stands for, from what its borders hold.
  void fill_level(Level& level, bool keep, SlabResult& result) {
    level.first_row = slab_.first_row;
    level.first_column = slab_.first_column;
    level.n_columns = slab_.n_columns;
    level.left = slab_.left;
    if (keep) {
      const std::int64_t n_rows = slab_.end_row - slab_.first_row;
      level.distance = checkpoint_distance(n_rows, slab_.n_columns, limits_);
      const std::int64_t n_checkpoints = (n_rows - 1) / level.distance + 1;
      slab_.checkpoints = level.checkpoints.get<std::int32_t>(n_checkpoints * 2 * slab_.n_columns);
      level.column_stride = round_up(n_rows);
      level.column_distance = column_distance(level.column_stride, slab_.n_columns, limits_);
      if (level.column_distance > 0)
        slab_.column_checkpoints = level.columns.get<std::int32_t>(
            slab_.n_columns / level.column_distance * 2 * level.column_stride);
    }
    slab_.checkpoint_rows = level.distance;
    slab_.checkpoint_columns = level.column_distance;
    slab_.column_stride = level.column_stride;
    align_slab(slab_, false, result);
    slab_.checkpoint_rows = slab_.checkpoint_columns = 0;
  }

  // Follows the path up to the first row and column of the level: the block below and right of the
  // checkpoints that it crosses is computed again, with its bits, or with checkpoints of its own
  // where those are many.
  void traceback_level(Level& level) {
    while (!traceback_.done() && traceback_.i() >= level.first_row &&
           traceback_.j() >= level.first_column) {
      enter_block(level);
      const std::int64_t n_rows = slab_.end_row - slab_.first_row;
      SlabResult result;
      if (n_rows > kMinRows && n_rows * slab_.n_columns / 2 > limits_.trace_bytes) {
        Level part;
        fill_level(part, true, result);
        traceback_level(part);
      } else {
        align_slab(slab_, true, result);
        traceback_.run(
            slab_.first_row,
            [&](std::int64_t i, std::int64_t j) { return result.trace.cell(i, j); },
            slab_.first_column);
      }
    }
  }

  // Makes slab_ the part of the block where the path stands that lies above and left of it.
  void enter_block(Level& level) {
    const std::int64_t k = (traceback_.i() - level.first_row) / level.distance;
    const std::int64_t column = traceback_.j() - level.first_column;
    const std::int64_t q = level.column_distance > 0 ? column / level.column_distance : 0;
    const std::int64_t row = k * level.distance, skipped = q * level.column_distance;
    slab_.first_row = level.first_row + row;
    slab_.end_row = traceback_.i() + 1;
    slab_.first_column = level.first_column + skipped;
    slab_.n_columns = column + 1 - skipped;
    const std::int32_t* const saved =
        level.checkpoints.get<std::int32_t>(0) + k * 2 * level.n_columns + skipped;
    std::copy_n(saved, slab_.n_columns, slab_.h_row);
    std::copy_n(saved + level.n_columns, slab_.n_columns, slab_.f_row);
    slab_.left = level.left;
    if (q > 0) {
      const std::int32_t* const h =
          level.columns.get<std::int32_t>(0) + (q - 1) * 2 * level.column_stride + row;
      slab_.left = {h, h + level.column_stride, saved[-1]};
    } else if (level.left.h != nullptr && row > 0) {
      slab_.left = {level.left.h + row, level.left.e + row, level.left.h[row - 1]};
    }
  }

  const Options& options_;
  const LongLimits limits_;
  const std::int64_t m_, n_;
  Slab slab_;
  Traceback traceback_;
};

}  // namespace

Alignment align_long_pair(const Options& options, const PairScores& scores,
                          std::span<const std::uint8_t> query, std::span<const std::uint8_t> target,
                          Scratch& scratch, std::vector<std::uint32_t>& cigar,
                          const LongLimits& limits) {
  return LongPair(options, scores, query, target, scratch, limits).align(cigar);
}

}  // namespace biogpu::align
