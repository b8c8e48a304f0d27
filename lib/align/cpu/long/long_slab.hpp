#pragma once

#include <cstdint>

#include "lib/align/align.hpp"
#include "lib/align/border.hpp"
#include "lib/align/cpu/pair_scores.hpp"
#include "lib/align/cpu/scratch.hpp"
#include "lib/align/traceback.hpp"

namespace biogpu::align {

// H, and E of the next column, down a column; [row of the slab or level].
struct LeftBorder {
  const std::int32_t* h = nullptr;  // nullptr: the border of the matrix
  const std::int32_t* e = nullptr;
  std::int32_t corner = 0;  // H of the row above, where h is given
};

// Rows first_row .. end_row of the matrix of one pair, n_columns columns from first_column on.
struct Slab {
  const Options* options = nullptr;
  const PairScores& scores;
  bool small_table = false;
  std::span<const std::uint8_t> query, target;
  std::int64_t first_row = 0, end_row = 0, first_column = 0, n_columns = 0;
  LeftBorder left{};
  // H, and F of the row below, in the row above the slab; overwritten by those of its last row.
  // n_columns + kMaxLanes words each.
  std::int32_t* h_row = nullptr;
  std::int32_t* f_row = nullptr;
  // Rows kept every checkpoint_rows rows from first_row on (a multiple of kMaxLanes; 0: none),
  // [H, F][n_columns].
  std::int64_t checkpoint_rows = 0;
  std::int32_t* checkpoints = nullptr;
  // Columns kept every checkpoint_columns columns (more than kMaxLanes; 0: none), the last of all
  // aside: [H, E of the next column][column_stride], column_stride a multiple of kMaxLanes.
  std::int64_t checkpoint_columns = 0, column_stride = 0;
  std::int32_t* column_checkpoints = nullptr;
  Scratch* scratch = nullptr;
};

// Bits of every cell of a slab; lives in the scratch.
struct SlabTrace {
  const std::uint8_t* planes = nullptr;  // [strip][step][4 planes][plane_bytes]
  std::int64_t first_row = 0, first_column = 0, steps = 0, lanes = 1, plane_bytes = 1;

  TraceCell cell(std::int64_t i, std::int64_t j) const {
    const std::int64_t strip = (i - first_row) / lanes, lane = (i - first_row) % lanes;
    const std::int64_t step = strip * steps + j - first_column + lane;
    const std::uint8_t* byte = planes + step * 4 * plane_bytes + lane / 8;
    const int bit = static_cast<int>(lane % 8);
    return {(byte[0] >> bit & 1) != 0, (byte[plane_bytes] >> bit & 1) != 0,
            (byte[2 * plane_bytes] >> bit & 1) != 0, (byte[3 * plane_bytes] >> bit & 1) != 0};
  }
};

struct SlabResult {
  EndPicker::End local_end{0, 0, 0};  // local mode
  EndPicker* picker = nullptr;        // the other modes; nullptr: the end is not sought
  SlabTrace trace;                    // where asked for; no ends are sought then
};

void align_slab(const Slab& slab, bool trace, SlabResult& result);

}  // namespace biogpu::align
