#include "lib/align/cpu/long_pair.hpp"

#include <algorithm>
#include <cmath>

#include "lib/align/cpu/group.hpp"
#include "lib/align/cpu/long_slab.hpp"

namespace biogpu::align {
namespace {

// Bits of at most this many bytes are computed at a time, or of kLeastRows rows.
constexpr std::int64_t kTraceBytes = std::int64_t{64} << 20;
constexpr std::int64_t kLeastRows = 256;
// Checkpoints of one level: as many as this takes, or as fit in kCheckpointBytes.
constexpr std::int64_t kCheckpoints = 16;
constexpr std::int64_t kCheckpointBytes = std::int64_t{256} << 20;

std::int64_t round_up(std::int64_t rows) { return (rows + kMaxLanes - 1) / kMaxLanes * kMaxLanes; }

// Rows between checkpoints. Where memory allows, the sum of checkpoints (8 bytes) and slab (half a
// byte) is least near 4 sqrt(rows).
std::int64_t checkpoint_distance(std::int64_t n_rows, std::int64_t n_columns) {
  const auto best = static_cast<std::int64_t>(4 * std::sqrt(static_cast<double>(n_rows)));
  const std::int64_t most =
      std::max(kCheckpoints, kCheckpointBytes / (8 * std::max<std::int64_t>(n_columns, 1)));
  return round_up(std::max({best, kLeastRows, (n_rows + most - 1) / most}));
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
           std::span<const std::uint8_t> target, Scratch& scratch)
      : options_(options),
        m_(std::ssize(query)),
        n_(std::ssize(target)),
        slab_{.options = &options, .scores = scores, .query = query, .target = target},
        walk_(options, query, target) {
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
    fill_level(level, 0, m_, with_path, result);
    const EndPicker::End end = local ? result.local_end : picker.pick();

    Alignment row;
    row.score = static_cast<std::int32_t>(end.score);
    if (options_.output == Output::score || (local && end.score == 0)) return row;
    row.query_end = static_cast<std::int32_t>(end.i);
    row.target_end = static_cast<std::int32_t>(end.j);
    if (!with_path) return row;
    walk_.start(end.i, end.j, end.score);
    walk_level(level);
    walk_.finish(row, cigar);
    return row;
  }

 private:
  // Rows kept of one part of the matrix.
  struct Level {
    std::int64_t first_row = 0, distance = 0, n_columns = 0;
    AlignedBuffer checkpoints;
  };

  // Computes the rows first_row .. end_row of n_columns columns from what h_row and f_row hold.
  void fill_level(Level& level, std::int64_t first_row, std::int64_t end_row, bool keep,
                  SlabResult& result) {
    slab_.first_row = level.first_row = first_row;
    slab_.end_row = end_row;
    level.n_columns = slab_.n_columns;
    if (keep) {
      const std::int64_t n_rows = end_row - first_row;
      level.distance = checkpoint_distance(n_rows, slab_.n_columns);
      const std::int64_t n_checkpoints = (n_rows - 1) / level.distance + 1;
      slab_.checkpoints = level.checkpoints.get<std::int32_t>(n_checkpoints * 2 * slab_.n_columns);
    }
    slab_.checkpoint_rows = level.distance;
    align_slab(slab_, false, result);
    slab_.checkpoint_rows = 0;
  }

  // Follows the path up to the first row of the level: the part below each checkpoint that it
  // crosses is computed again, with its bits, or with checkpoints of its own where those are many.
  void walk_level(Level& level) {
    while (!walk_.done() && walk_.i() >= level.first_row) {
      const std::int64_t k = (walk_.i() - level.first_row) / level.distance;
      const std::int64_t first_row = level.first_row + k * level.distance;
      const std::int64_t n_rows = walk_.i() + 1 - first_row;
      slab_.n_columns = walk_.j() + 1;
      const auto* saved = level.checkpoints.get<std::int32_t>(0) + k * 2 * level.n_columns;
      std::copy_n(saved, slab_.n_columns, slab_.h_row);
      std::copy_n(saved + level.n_columns, slab_.n_columns, slab_.f_row);
      SlabResult result;
      if (n_rows > kLeastRows && n_rows * slab_.n_columns / 2 > kTraceBytes) {
        Level part;
        fill_level(part, first_row, walk_.i() + 1, true, result);
        walk_level(part);
      } else {
        slab_.first_row = first_row;
        slab_.end_row = walk_.i() + 1;
        align_slab(slab_, true, result);
        walk_.run(first_row,
                  [&](std::int64_t i, std::int64_t j) { return result.trace.cell(i, j); });
      }
    }
  }

  const Options& options_;
  const std::int64_t m_, n_;
  Slab slab_;
  PathWalk walk_;
};

}  // namespace

Alignment align_long_pair(const Options& options, const PairScores& scores,
                          std::span<const std::uint8_t> query, std::span<const std::uint8_t> target,
                          Scratch& scratch, std::vector<std::uint32_t>& cigar) {
  return LongPair(options, scores, query, target, scratch).align(cigar);
}

}  // namespace biogpu::align
