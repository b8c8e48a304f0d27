#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/models/base/dna_model.hpp"

namespace biogpu::models::alphagenome {

// How far a base reaches through the encoder, as TowerReach has it: both convolutions of a level as
// one.
std::vector<std::int64_t> encoder_taps(std::int64_t n_levels);

// Coarse rows at an end of a part of a window whose bases come out otherwise than in the window, as
// zeros are there in place of what lies beyond: through the encoder's levels and the decoder.
std::int64_t part_margin(std::int64_t n_levels);

// Parts of windows, of the same length, that are decoded in place of whole windows.
struct ReadParts {
  std::int64_t n_rows = 0;           // coarse rows
  std::vector<std::int64_t> begins;  // of each window's part

  // The sums with bins counted from the first base of the part.
  std::vector<BinSum> shifted(std::span<const BinSum> sums, std::int64_t coarse_bin) const;
  // The same of rows of each window; none where there are none.
  std::vector<BinRows> shifted(std::span<const BinRows> rows, std::int64_t coarse_bin) const;
};

// Rows of each window as sums of them.
std::vector<BinSum> as_sums(std::span<const BinRows> rows);

// Parts that hold the bases of all sums, with margins. sums: of each head of bases. None where they
// are most of a window. Throws std::out_of_range for a sum over bins that are not of a window.
std::optional<ReadParts> find_read_parts(std::span<const std::span<const BinSum>> sums,
                                         std::int64_t n_windows, std::int64_t n_rows,
                                         std::int64_t n_levels);

}  // namespace biogpu::models::alphagenome
