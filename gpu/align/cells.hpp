#pragma once

#include <cstdint>

namespace biogpu::gpu::align {

// Plain records that the host and the alignment kernels share. Rows are query residues, columns
// target residues, both from 0; -1 is the border. Residues are classes 0..31, one byte each.

inline constexpr int kMaxClasses = 32;
// A row of the score table in shared memory: a class of its own for rows below the query, and an
// odd number of 4-byte words so that different target classes start at different banks.
inline constexpr int kPadClass = kMaxClasses;
inline constexpr int kScoreStride = 36;
inline constexpr int kScoreBytes = kMaxClasses * kScoreStride;
// Words of the packed kernel, one for each query class and kPadClass.
inline constexpr int kPackedWords = kMaxClasses + 1;

// H, E or F of a cell that no path reaches; far from the 32-bit limits on both sides.
inline constexpr int kImpossible = -(1 << 30);

// What cells are worth. A gap of length L costs gap_open + (L - 1) * gap_extend.
struct CellScheme {
  // Device memory, kScoreBytes: [target class][query class, kPadClass scores -128].
  const std::int8_t* scores = nullptr;
  // Device memory, kPackedWords: byte t is score + packed_raise against target class t, 0 <= t < 4;
  // 0 or more. packed_bias raises every cell of the packed kernels above 0.
  const std::uint32_t* packed_words = nullptr;
  int packed_raise = 0;
  int packed_bias = 0;
  int gap_open = 0;
  int gap_extend = 0;
  bool local = false;
  bool free_query_begin = false;
  bool free_query_end = false;
  bool free_target_begin = false;
  bool free_target_end = false;
};

// H, and the gap state that crosses the border: F for a row, E for a column.
struct alignas(8) BorderCell {
  std::int32_t h;
  std::int32_t gap;
};

// How the lanes of one group cover the matrix: n_rows neighbouring rows a lane, n_lanes * n_rows a
// tile, tiles one after the other.
struct GroupShape {
  int n_lanes = 0;
  int n_rows = 0;
  int tile_rows() const { return n_lanes * n_rows; }
};

// One pair of non-empty sequences; the offsets point into the arrays of the batch. A place of the
// packed kernels that stays empty has no rows and no columns.
struct PairTask {
  std::uint64_t query = 0;   // first residue
  std::uint64_t target = 0;  // first residue
  std::uint64_t border = 0;  // first of n_columns BorderCell; used when the pair has several tiles
  std::uint64_t trace = 0;   // first word
  std::uint64_t runs = 0;    // first of n_rows + n_columns runs
  std::int32_t n_rows = 0;
  std::int32_t n_columns = 0;
};

// A cell where a path may end, in coordinates of the whole matrix; as a result the best by the tie
// rule of lib/align/align.hpp. Local and score 0: all 0.
struct PairEnd {
  std::int32_t score;
  std::int32_t row;
  std::int32_t column;
};

// begin: the first residue that the path aligns, before its leading end gap. The runs, n_runs of
// them from run_begin, are in reading order, BAM coding (length << 4 | operation). Statistics as
// lib/align/align.hpp has them.
struct PairPath {
  std::int32_t row_begin;
  std::int32_t column_begin;
  std::uint32_t n_runs;
  std::uint32_t run_begin;
  std::int32_t matches;
  std::int32_t similar;
  std::int32_t length;
};

// Trace of one cell: where H came from, and whether E and F came from an extension. A local path
// ends where its score is used up, which the traceback keeps count of.
inline constexpr std::uint32_t kTraceGap = 1;  // H came from E or F, not from the diagonal
inline constexpr std::uint32_t kTraceE = 2;    // E is greater than F
inline constexpr std::uint32_t kTraceExtendE = 4;
inline constexpr std::uint32_t kTraceExtendF = 8;
// Bits of a cell and cells of a word. Words lie as [tile][step][row / 8][lane], step = column +
// lane.
inline constexpr int kTraceBits = 4;
inline constexpr int kTraceCells = 8;
// Packed kernels write words of 4 rows of two pairs, [tile][step][row / 4][lane], all bits of the
// opposite sense where the name says "not". For row k of the four, byte `half` holds "E of the next
// column extends" and "not kTraceGap" of a pair as bits 2 k and 2 k + 1, byte 2 + half "F of the
// next row extends" and "not kTraceE".
inline constexpr int kPackedTraceCells = 4;

inline int count_tiles(GroupShape shape, std::int64_t n_rows) {
  return static_cast<int>((n_rows + shape.tile_rows() - 1) / shape.tile_rows());
}

inline std::uint64_t count_trace_words(GroupShape shape, std::int64_t n_rows,
                                       std::int64_t n_columns) {
  return static_cast<std::uint64_t>(count_tiles(shape, n_rows)) *
         static_cast<std::uint64_t>(n_columns + shape.n_lanes - 1) *
         static_cast<std::uint64_t>(shape.tile_rows() / kTraceCells);
}

// Of two pairs, of which n_columns is the longer.
inline std::uint64_t count_packed_trace_words(GroupShape shape, std::int64_t n_rows,
                                              std::int64_t n_columns) {
  const int chunks = (shape.n_rows + kPackedTraceCells - 1) / kPackedTraceCells;
  return static_cast<std::uint64_t>(count_tiles(shape, n_rows)) *
         static_cast<std::uint64_t>(n_columns + shape.n_lanes - 1) *
         static_cast<std::uint64_t>(shape.n_lanes * chunks);
}

// What is computed for every pair of a run. The pointers of scheme are device memory.
struct BatchSettings {
  CellScheme scheme;
  int max_score = 0;       // of one pair of residues
  int min_score = 0;       // of one pair of residues
  bool with_ends = true;   // the positions of local ends are wanted
  bool with_path = false;  // scores and ends alone otherwise
  bool with_runs = false;  // with_path: the path itself, not its statistics alone
};

}  // namespace biogpu::gpu::align
