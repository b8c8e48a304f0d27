// Scores and end positions of many pairs, in 32 bits: right for every length and scoring scheme
// that the host lets through.
//
// Shapes   tasks[n_pairs], residues u8 classes, borders BorderCell[n_columns] of each pair that has
//          several tiles, ends[n_pairs].
// Mapping  kLanes lanes a pair, kRows neighbouring query residues a lane (dp_tile.hpp); 128
//          threads a block; groups beyond the last pair idle along with their wave.
// Traffic  residues once, 16 bytes a column for each tile after the first; scores from 1,152 bytes
//          of shared memory, one byte load a cell; bound by integer instructions.
// Result   exact, independent of shape, wave width and batch.
// Limits   |score| below 2^30 (require_int32 in lib/align/border.hpp).
// Source   O. Gotoh, doi:10.1016/0022-2836(82)90398-9; the mapping is our own.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/pairs/pair_cells_kernel.hpp"

namespace biogpu::gpu::align {

void launch_pair_cells(const PairCellsArgs& args, int shape, Stream& stream) {
  launch_pair_kernel<false>(args, shape, stream);
}

}  // namespace biogpu::gpu::align
