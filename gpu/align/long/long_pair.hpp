#pragma once

#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

// The shape that fills the blocks of a long pair.
inline constexpr GroupShape kLongShape = {32, 16};

// Rows that one wave fills in packed words, all columns of them (long_strip.hip).
inline constexpr int kStripRows = 1024;

inline int count_strips(std::int64_t n_rows) {
  return static_cast<int>((n_rows + kStripRows - 1) / kStripRows);
}

struct TracebackState;

// The ends that one row of blocks has found so far.
struct BlockRowEnds {
  PairEnd best;         // local: anywhere; else: in the last column
  PairEnd in_last_row;  // not for local
};

// One pair, cut into blocks of block_rows x block_columns cells. Border rows and columns of the
// blocks are kept in rings: 3 rows and 2 columns are enough to go forward; all of them, as
// checkpoints, let blocks be filled again. Device memory.
struct LongPairArgs {
  CellScheme scheme;
  const std::uint8_t* query = nullptr;   // [n_rows]
  const std::uint8_t* target = nullptr;  // [n_columns]
  std::int32_t n_rows = 0;
  std::int32_t n_columns = 0;
  bool with_ends = true;        // strips: false leaves the positions of local ends open
  std::int32_t block_rows = 0;  // a multiple of kLongShape.tile_rows()
  std::int32_t block_columns = 0;
  std::int32_t n_kept_rows = 0;
  std::int32_t n_kept_columns = 0;
  BorderCell* kept_rows = nullptr;     // [n_kept_rows][n_columns]: H, F
  BorderCell* kept_columns = nullptr;  // [n_kept_columns][n_rows]: H, E
  BlockRowEnds* ends = nullptr;        // [rows of blocks, or strips]
  // Strips alone: the borders between them, and how far each is, behind a counter of strips.
  BorderCell* strip_rows = nullptr;         // [2][n_columns]: H, F; may be the kept rows
  std::uint32_t* strip_progress = nullptr;  // [-1 .. count_strips())
  std::uint32_t* trace = nullptr;           // count_trace_words() of one block
  TracebackState* traceback = nullptr;      // one
  std::uint32_t* runs = nullptr;            // [n_rows + n_columns], from the end of the path
  PairPath* path = nullptr;                 // one; run_begin 0, runs in the order of `runs`
  std::uint64_t shared_bytes = 0;           // that a thread block may have
};

std::uint64_t traceback_state_bytes();

// Fills the blocks whose row and column of blocks add up to diagonal; in ascending order.
void launch_long_diagonal(const LongPairArgs& args, int diagonal, Stream& stream);

// Fills the whole matrix in strips and leaves the ends of each, and all borders of blocks where
// there is a traceback. The target holds classes 0..3 alone; costs as fits_strips() wants them.
void launch_long_strips(const LongPairArgs& args, Stream& stream);

// The path, once all blocks were filled with all borders kept: begin at `end`, then as many steps
// as there are rows and columns of blocks (further ones do nothing), then finish.
void launch_long_traceback_begin(const LongPairArgs& args, const PairEnd& end, Stream& stream);
void launch_long_traceback_step(const LongPairArgs& args, Stream& stream);
void launch_long_traceback_finish(const LongPairArgs& args, Stream& stream);

}  // namespace biogpu::gpu::align
