#pragma once

#include <array>
#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

// Lanes that score two queries against one target, and how many targets a thread block takes.
inline constexpr int kSearchLanes = 8;
inline constexpr int kSearchBlock = 128;
inline constexpr int kSearchTargets = kSearchBlock / kSearchLanes;
// Rows of a lane that search_score is compiled for.
inline constexpr std::array<int, 6> kSearchRows = {8, 16, 20, 24, 28, 32};
// Letters that a target is padded with behind its longest neighbour, and a set in front.
inline constexpr int kSearchPadding = 8;

// Two queries that are scored together, one in each half of a word; the second may be empty.
struct SearchQueries {
  std::uint64_t residues[2] = {0, 0};  // first residue
  std::uint64_t profile = 0;           // first word
  std::int32_t n_rows[2] = {0, 0};
  std::int32_t n_tiles = 0;
  std::int32_t slot = 0;  // row of SearchArgs::scores of the first; the second has the next
};

// kSearchTargets targets of similar length. Target t begins at letter begin + t * stride and is
// followed by the letter n_classes up to the next one.
struct SearchTargets {
  std::uint64_t begin = 0;
  std::int32_t n_columns = 0;  // of the longest
  std::int32_t stride = 0;     // n_columns + kSearchPadding at least
};

// Scores of a bound set of queries and targets; device memory. Every stored cell is raised by
// `bias`, which is no less than gap_open, gap_extend and the lowest score negated.
struct SearchArgs {
  const std::int8_t* scores = nullptr;     // CellScheme::scores
  const std::uint8_t* residues = nullptr;  // of the queries
  const SearchQueries* queries = nullptr;  // [n_query_pairs], all of one number of rows a lane
  const std::uint8_t* letters = nullptr;   // of the targets
  const SearchTargets* targets = nullptr;  // [n_batches], the longest first
  const std::uint32_t* numbers = nullptr;  // [n_batches * kSearchTargets]: in a row of score or ~0
  std::uint32_t* profile = nullptr;        // count_profile_words() a pair of queries
  BorderCell* borders = nullptr;           // [launched blocks][kSearchTargets][border_stride]
  std::uint32_t* next_unit = nullptr;      // one counter, 0 before a launch
  std::uint16_t* score = nullptr;          // [slots][n_targets], written
  std::uint64_t n_targets = 0;
  std::uint32_t n_query_pairs = 0;
  std::uint32_t n_batches = 0;
  std::int32_t border_stride = 0;  // the longest target that meets several tiles
  std::int32_t n_classes = 0;
  std::int32_t gap_open = 0;
  std::int32_t gap_extend = 0;
  std::int32_t bias = 0;
};

// rows: of a lane.
inline std::uint64_t count_profile_words(int rows, int n_tiles, int n_classes) {
  return static_cast<std::uint64_t>(n_tiles) * static_cast<std::uint64_t>(n_classes + 1) *
         static_cast<std::uint64_t>(rows * kSearchLanes);
}

// Blocks that a launch starts; each needs a border of its own.
std::uint32_t count_search_blocks(std::uint64_t n_units, const Stream& stream);

// Writes the profiles of the queries, of which none has more than most_tiles.
void launch_search_profile(const SearchArgs& args, int rows, int most_tiles, Stream& stream);

// Best local scores without end positions. rows: of kSearchRows, the same that the profile has.
void launch_search_score(const SearchArgs& args, int rows, std::uint32_t n_blocks, Stream& stream);

}  // namespace biogpu::gpu::align
