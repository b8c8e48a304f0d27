// Scores, end positions and the trace of many pairs in packed 16-bit words: pair_score_i16.hip with
// 4 bits a cell written for traceback.hip.
//
// Shapes   as pair_score_i16.hip, and trace: count_packed_trace_words() of each two pairs, laid out
//          as cells.hpp says; words of idle lanes stay unwritten.
// Mapping  as pair_score_i16.hip. A comparison is the sign of a plain subtraction; one byte permute
//          gathers the four signs of two comparisons.
// Traffic  n_rows * n_columns / 2 bytes a pair written, rounded up to tiles; bound by instructions.
// Result   exact, independent of shape, wave width and batch.
// Limits   as pair_score_i16.hip.
// Source   as pair_score_i16.hip.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/pairs/pair_i16_kernel.hpp"

namespace biogpu::gpu::align {

void launch_pair_trace_i16(const PairCellsArgs& args, int shape, Stream& stream) {
  if (args.scheme.local) return launch_i16_kernel<true, PackedOutput::trace>(args, shape, stream);
  launch_i16_kernel<false, PackedOutput::trace>(args, shape, stream);
}

}  // namespace biogpu::gpu::align
