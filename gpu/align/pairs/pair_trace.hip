// Scores, end positions and the trace of many pairs: pair_cells.hip with 4 bits a cell written for
// traceback.hip.
//
// Shapes   as pair_cells.hip, and trace: count_trace_words() of each pair, laid out as
//          [tile][step][row / 8][lane], step = column + lane; words of idle lanes stay unwritten.
// Mapping  as pair_cells.hip; a lane packs 8 rows of a column into one word, so that a step of a
//          group writes whole sectors.
// Traffic  n_rows * n_columns / 2 bytes written, rounded up to tiles; bound by instructions.
// Result   exact, independent of shape, wave width and batch.
// Limits   as pair_cells.hip.
// Source   as pair_cells.hip.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/pairs/pair_cells_kernel.hpp"

namespace biogpu::gpu::align {

void launch_pair_trace(const PairCellsArgs& args, int shape, Stream& stream) {
  launch_pair_kernel<true>(args, shape, stream);
}

}  // namespace biogpu::gpu::align
