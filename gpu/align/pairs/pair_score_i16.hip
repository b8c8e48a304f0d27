// Scores and end positions of many pairs in packed 16-bit words, two pairs a word: for nucleotides.
//
// Shapes   as pair_cells.hip; pairs 2g and 2g + 1 belong together, borders of the first are used.
// Mapping  kLanes lanes for two pairs, kRows neighbouring query residues of each a lane; 128
//          threads a block. Scores are four bytes in a register for each row, picked by a byte
//          permute: no memory is read for a cell.
// Traffic  residues once; bound by instructions: 4 and a permute for two cells on the packed pipe,
//          4 plain additions beside it.
// Result   exact, equal to pair_cells.hip; independent of shape, wave width and batch.
// Limits   scores and gap costs within kPackedLimit, raised scores within a signed byte.
// Source   O. Gotoh, doi:10.1016/0022-2836(82)90398-9; the mapping is our own.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/pairs/pair_i16_kernel.hpp"

namespace biogpu::gpu::align {

void launch_pair_score_i16(const PairCellsArgs& args, int shape, bool with_ends, Stream& stream) {
  if (!args.scheme.local) return launch_i16_kernel<false, PackedOutput::ends>(args, shape, stream);
  if (with_ends) return launch_i16_kernel<true, PackedOutput::ends>(args, shape, stream);
  launch_i16_kernel<true, PackedOutput::score>(args, shape, stream);
}

}  // namespace biogpu::gpu::align
