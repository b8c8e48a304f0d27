#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/cpu/scratch.hpp"
#include "lib/align/traceback.hpp"

namespace biogpu::align {

// A group is a set of pairs aligned in lockstep, one per vector lane (T. Rognes,
// doi:10.1186/1471-2105-12-221), with 8- or 16-bit scores.

inline constexpr int kMaxLanes = 64;

struct LanePair {
  std::span<const std::uint8_t> query, target;  // neither is empty
};

// Columns that one pass over the rows computes at most.
inline constexpr int kMaxColumns = 4;
// The same where a query meets many targets and the bests of the columns are rarely followed.
inline constexpr int kSearchColumns = 6;
inline constexpr int kWholePasses = 12;  // columns, of either

inline std::int64_t whole_passes(std::int64_t n_columns) {
  return (n_columns + kWholePasses - 1) / kWholePasses * kWholePasses;
}

// What stands for a residue behind the end of a sequence, and between two targets of a lane. It
// scores 0, unbiased, or less: it can never raise a best local score.
inline constexpr std::uint8_t kPad = 0xFF;

// A lane's target may be several in a row, each from a multiple of kWholePasses on and padded up
// to the next, where scores of local alignments are wanted and the table is none of is_xor_table().
struct LaneEnd {
  std::int64_t column = 0;  // behind the target and its padding
  int lane = 0;
};

struct GroupJob {
  const Options* options = nullptr;
  std::span<const LanePair> lanes;  // at most group_lanes(narrow)
  // 8-bit lanes: scores where the alignment is local, else differences. Else 16-bit scores.
  bool narrow = false;
  bool same_query = false;    // every lane has the first one's query; only scores make use of it
  bool same_targets = false;  // those of the last job of this scratch, which was such a one too
  Scratch* scratch = nullptr;
  std::span<const LaneEnd> ends = {};  // of all targets, by column; none: every lane holds one
  std::int32_t min_score =
      0;  // a local score below it may come out as any that is not above its own
};

// Lengths over the lanes of a group.
struct GroupShape {
  std::int64_t n_rows = 0, n_columns = 0;      // the greatest
  std::int64_t min_rows = 0, min_columns = 0;  // the smallest

  explicit GroupShape(const GroupJob& job) {
    min_rows = std::ssize(job.lanes[0].query);
    min_columns = std::ssize(job.lanes[0].target);
    for (const LanePair& pair : job.lanes) {
      const std::int64_t m = std::ssize(pair.query), n = std::ssize(pair.target);
      n_rows = std::max(n_rows, m);
      n_columns = std::max(n_columns, n);
      min_rows = std::min(min_rows, m);
      min_columns = std::min(min_columns, n);
    }
  }
};

// Bits of every cell of every lane, as bit planes: the cell (i, j) owns 4 * plane_bytes bytes, lane
// l the bit l of each plane; the columns of a pass lie side by side. Lives in the scratch until the
// next group.
struct GroupTrace {
  std::uint8_t* planes = nullptr;  // [column / kMaxColumns][row][kMaxColumns][4][plane_bytes]
  std::int64_t n_rows = 0;
  std::int64_t plane_bytes = 0;

  std::uint8_t* at(std::int64_t i, std::int64_t j) const {
    const std::int64_t cell = (j / kMaxColumns * n_rows + i) * kMaxColumns + j % kMaxColumns;
    return planes + cell * 4 * plane_bytes;
  }

  // From one row of a pass to the next.
  static constexpr std::int64_t row_bytes(std::int64_t bytes_of_plane) {
    return kMaxColumns * 4 * bytes_of_plane;
  }

  void prefetch(std::int64_t i, std::int64_t j) const { __builtin_prefetch(at(i, j)); }

  TraceCell cell(int lane, std::int64_t i, std::int64_t j) const {
    const std::uint8_t* byte = at(i, j) + lane / 8;
    const int bit = lane % 8;
    return {(byte[0] >> bit & 1) != 0, (byte[plane_bytes] >> bit & 1) != 0,
            (byte[2 * plane_bytes] >> bit & 1) != 0, (byte[3 * plane_bytes] >> bit & 1) != 0};
  }
};

inline GroupTrace start_trace(Scratch& scratch, const GroupShape& shape, std::int64_t plane_bytes) {
  const std::int64_t columns = (shape.n_columns + kMaxColumns - 1) / kMaxColumns * kMaxColumns;
  // The last store of a mask may write a whole word.
  const std::int64_t bytes = shape.n_rows * columns * 4 * plane_bytes + 8;
  return {scratch.trace.get<std::uint8_t>(static_cast<std::size_t>(bytes)), shape.n_rows,
          plane_bytes};
}

// Of a target of a lane that holds several.
struct EndedScore {
  std::int32_t score = 0;
  bool saturated = false;
};

// Per lane. Positions are filled unless a local alignment was asked for its score alone. A
// saturated lane holds nothing of use: its score left the range, which only local alignments can.
struct GroupResult {
  std::int32_t score[kMaxLanes];
  std::int32_t query_end[kMaxLanes];
  std::int32_t target_end[kMaxLanes];
  bool saturated[kMaxLanes];
  std::vector<EndedScore> ended;  // as GroupJob::ends, instead of those by lane
  GroupTrace trace;
};

// What the scores of a group must stay within for 8 or 16 bits to hold every value on the way.
struct GroupRange {
  // Local: where 0 lies, so that the range serves both ways, and the greatest value that a cell may
  // have without being given up as saturated.
  std::int64_t local_zero, local_highest;
  // Global and semi-global: bounds of H.
  std::int64_t lowest, highest;

  GroupRange(const Options& options, bool narrow) {
    const Scoring& s = options.scoring;
    const std::int64_t limit = narrow ? 127 : 32767;
    // From H down to the gap values that come of it, or to a diagonal before the maximum is taken.
    // At least 1: a value below the floor says which diagonals the floor swallows.
    const std::int64_t below = std::max(
        {std::int64_t{1}, std::int64_t{s.gap_open} + s.gap_extend, -std::int64_t{s.min_score()}});
    const std::int64_t above = std::max(s.max_score(), 0);
    local_zero = -limit - 1 + below;
    local_highest = limit - above;
    lowest = -limit - 1 + below;
    highest = limit - above;
  }
};

// Pairs that one group holds on this CPU.
int group_lanes(bool narrow);

void align_group_score(const GroupJob& job, GroupResult& result);  // Output::score and ::ends
void align_group_trace(const GroupJob& job, GroupResult& result);  // ::statistics, ::cigar

// Whether scores fit a 16-entry table: four classes, and perhaps a fifth that scores 0 with all.
bool has_small_table(const Scoring& scoring);

// Whether the table can be addressed by the exclusive or of two classes: match and mismatch scores,
// or transitions and transversions.
bool is_xor_table(const Scoring& scoring);

// Whether differences of neighbouring cells fit 8-bit lanes under these costs.
bool differences_fit(const Scoring& scoring);

}  // namespace biogpu::align
