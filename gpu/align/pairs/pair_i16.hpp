#pragma once

#include <array>

#include "gpu/align/pairs/pair_cells.hpp"

namespace biogpu::gpu::align {

// The shapes that the packed kernels are compiled for: queries of about 64, 100, 150, 250 and 500
// residues.
inline constexpr std::array<GroupShape, 5> kPackedShapes = {
    {{8, 8}, {8, 13}, {8, 19}, {16, 16}, {32, 16}}};

// Largest |score| plus gap cost that the kernels hold; see fits_packed() in kernel_choice.hpp.
inline constexpr int kPackedLimit = (1 << 14) - 256;
// CellScheme::packed_bias where scores may fall below 0.
inline constexpr int kPackedMiddle = 1 << 14;

// Scores and ends, two neighbouring pairs a word; args.trace is not used. Pairs 2 g and 2 g + 1
// have the same number of tiles, targets of classes 0..3, and the longer target first, so that the
// border of the first pair of two serves both. shape: index into kPackedShapes. with_ends: false
// leaves the positions of local ends open.
void launch_pair_score_i16(const PairCellsArgs& args, int shape, bool with_ends, Stream& stream);

// The same and the trace, which two pairs share: that of the first, count_packed_trace_words().
void launch_pair_trace_i16(const PairCellsArgs& args, int shape, Stream& stream);

}  // namespace biogpu::gpu::align
