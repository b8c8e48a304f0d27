#pragma once

#include <array>
#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

// How the cells of a search lie in their 16 bits.
//   small  as they are, up to 2,047: most additions are those of half-precision numbers
//   unit   the same where extending a gap costs 1, which is part of the code then
//   wide   raised by a bias, up to some 32,000: for what small cells cannot hold
enum class SearchCells { small, unit, wide };

// Lanes that score two tracks of queries against one target, and how many targets a thread block
// takes.
inline constexpr int kSearchLanes = 8;
inline constexpr int kSearchBlock = 128;
inline constexpr int kSearchTargets = kSearchBlock / kSearchLanes;
// Rows of a lane that search_score is compiled for.
inline constexpr std::array<int, 4> kSearchRows = {8, 16, 24, 28};
inline constexpr std::array<int, 2> kWideSearchRows = {16, 32};
// Letters that a target is padded with behind its longest neighbour, and a set in front: for lanes
// that have not begun or have ended, and for the steps of an unrolled loop.
inline constexpr int kSearchPadding = 12;

// What one lane of one tile holds of a query, in one half of its words. A lane holds no more than
// one query in a half; neighbours of one query follow each other through lanes and tiles.
struct SearchLaneRows {
  std::uint64_t residues = 0;  // first residue
  std::int32_t n_rows = 0;     // the rest of the lane is padding
  std::int32_t depth = 0;      // lanes before this one that hold the same query
  std::int32_t slot = -1;      // row of SearchArgs::score if the query ends here, else -1
};

// Queries laid end to end in two tracks of about the same length, one in each half of the words.
struct SearchBundle {
  std::uint64_t lanes = 0;    // first of n_tiles * kSearchLanes * 2: [tile][lane][half]
  std::uint64_t profile = 0;  // first word
  std::int32_t n_tiles = 0;
};

// kSearchTargets targets of similar length. Target t begins at letter begin + t * stride and is
// followed by the letter n_classes up to the next one.
struct SearchTargets {
  std::uint64_t begin = 0;
  std::int32_t n_columns = 0;  // of the longest
  std::int32_t stride = 0;     // n_columns + kSearchPadding at least
};

// What a block takes at a time: neighbouring tiles of a bundle against a batch of targets. Batches
// below SearchArgs::n_split are taken a tile at a time, which follows the one above it wherever
// that runs; of the others a unit is the whole bundle.
struct alignas(16) SearchUnit {
  std::uint32_t bundle = 0;
  std::uint32_t batch = 0;
  std::int32_t first_tile = 0;
  std::int32_t end_tile = 0;
};

// Scores of a bound set of queries and targets; device memory. bias: of wide cells, no less than
// gap_open, gap_extend and the lowest score negated; 0 of others.
struct SearchArgs {
  const std::int8_t* scores = nullptr;     // CellScheme::scores
  const std::uint8_t* residues = nullptr;  // of the queries
  const SearchBundle* bundles = nullptr;   // [n_bundles], the longest first
  const SearchLaneRows* lanes = nullptr;   // of all bundles
  const std::uint8_t* letters = nullptr;   // of the targets
  const SearchTargets* targets = nullptr;  // [n_batches], the longest first
  const std::uint32_t* numbers = nullptr;  // [n_batches * kSearchTargets]: in a row of score or ~0
  std::uint32_t* profile = nullptr;        // count_profile_words() a bundle
  const SearchUnit* units = nullptr;       // [n_units], every tile behind the one above it
  BorderCell* borders = nullptr;           // [launched blocks][kSearchTargets][border_stride]
  BorderCell* split_borders = nullptr;     // [n_bundles][n_split_letters]
  std::uint32_t* progress = nullptr;       // count_search_progress(): the next unit, then for each
                                           // tile and split batch what its waves have left below
  std::uint16_t* score = nullptr;          // [slots][n_targets], written
  // Scores of `limit` or more, which are not exact: slot << 32 | target in any order, as they are
  // found. Pinned host memory, [max_inexact]: the host reads it while the kernel runs.
  std::uint64_t* inexact = nullptr;
  std::uint32_t* n_inexact = nullptr;  // device memory, 0 before the launch; may pass max_inexact
  std::uint64_t n_targets = 0;
  std::uint64_t n_split_letters = 0;  // before the first batch that is not split
  std::uint32_t n_bundles = 0;
  std::uint32_t n_tiles = 0;  // of all bundles
  std::uint32_t n_split = 0;
  std::uint32_t n_units = 0;
  std::int32_t border_stride = 0;  // columns of the longest batch that is not split
  std::int32_t n_classes = 0;
  std::int32_t gap_open = 0;
  std::int32_t gap_extend = 0;
  std::int32_t bias = 0;
  std::uint32_t limit = 0;
  std::uint32_t max_inexact = 0;
  std::uint16_t small_open = 0;  // set by launch_search_score: gap_open negated, I16x2Equal
};

// rows: of a lane.
inline std::uint64_t count_profile_words(int rows, int n_tiles, int n_classes) {
  return static_cast<std::uint64_t>(n_tiles) * static_cast<std::uint64_t>(n_classes + 1) *
         static_cast<std::uint64_t>(rows * kSearchLanes);
}

// Words of SearchArgs::progress; each of a block's waves has one, and none is smaller than 32
// lanes.
inline constexpr std::uint32_t kSearchWaves = kSearchBlock / 32;
inline std::uint64_t count_search_progress(std::uint64_t n_tiles, std::uint64_t n_split) {
  return 1 + n_tiles * n_split * kSearchWaves;
}

// Blocks that a launch starts; each needs a border of its own.
std::uint32_t count_search_blocks(std::uint64_t n_units, const Stream& stream);

// Writes the profiles of the bundles, of which none has more than max_tiles.
void launch_search_profile(const SearchArgs& args, SearchCells cells, int rows, int max_tiles,
                           Stream& stream);

// Best local scores without end positions. rows: of kSearchRows or kWideSearchRows, the same that
// profile and lanes have.
void launch_search_score(const SearchArgs& args, SearchCells cells, int rows,
                         std::uint32_t n_blocks, Stream& stream);

}  // namespace biogpu::gpu::align
