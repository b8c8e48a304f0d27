#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/layers/tower_reach.hpp"

namespace biogpu::models::alphagenome {

// How far a base reaches through the encoder, as TowerReach has it: both convolutions of a level as
// one.
std::vector<std::int64_t> encoder_taps(std::int64_t n_levels);

// Coarse rows at an end of a part of a window whose bases come out otherwise than in the window, as
// zeros are there in place of what lies beyond: through the encoder's levels and the decoder.
std::int64_t part_margin(std::int64_t n_levels);

// What is read of the bases of windows.
struct ReadBases {
  std::vector<std::span<const BinSum>> sums;   // of some heads
  std::vector<std::span<const BinRows>> rows;  // of some heads, of each window
};

// Parts of windows, of the same length, that are decoded in place of whole windows: first one of
// each window, which has all its rows, then others that sums need, in few numbers.
struct ReadParts {
  struct Part {
    std::size_t window = 0;
    std::int64_t begin = 0;  // coarse row
  };
  std::int64_t n_rows = 0;  // coarse rows
  std::vector<Part> parts;
  std::int64_t margin = 0, n_window_rows = 0, coarse_bin = 0;

  // Whether the coarse rows come out as in the window.
  bool has(const Part& part, const RowRange& rows) const;
  // The sums with parts in place of windows, and bins counted from the first base of the part.
  std::vector<BinSum> shifted(std::span<const BinSum> sums) const;
  // The rows of the first part of each window; none where there are none.
  std::vector<BinRows> shifted(std::span<const BinRows> rows) const;
};

// Parts that hold all that is read, with margins: as few rows as several lengths give. None where
// they are more than half of the windows. Throws std::out_of_range for bins that are not of a
// window.
std::optional<ReadParts> find_read_parts(const ReadBases& read, std::int64_t n_windows,
                                         std::int64_t n_rows, std::int64_t n_levels);

}  // namespace biogpu::models::alphagenome
