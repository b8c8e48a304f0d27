// Scores and end positions of many pairs in packed 16-bit words, two pairs a word: for nucleotides.
//
// Shapes   as pair_cells.hip; pairs 2g and 2g + 1 belong together, borders of the first are used.
// Mapping  kLanes lanes for two pairs, kRows neighbouring query residues of each a lane; 128
// threads
//          a block. Scores are four bytes in a register for each row, picked by a byte permute: no
//          memory is read for a cell.
// Traffic  residues once; bound by packed instructions, 6 and a permute for two cells.
// Result   exact, equal to pair_cells.hip; independent of shape, wave width and batch.
// Limits   scores and gap costs within kPackedLimit, scores + open within a signed byte.
// Source   O. Gotoh, doi:10.1016/0022-2836(82)90398-9; the mapping is our own.
// Oracle   align_ref, lib/align/align_ref.cpp.
#include "gpu/align/pair_score_i16.hpp"

#include "gpu/align/fill_packed.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr unsigned kBlock = 128;

template <int kWave, int kLanes, int kRows, bool kLocal>
__global__ BIOGPU_LAUNCH_BOUNDS(kBlock, 3) void pair_score_i16_kernel(PairCellsArgs a) {
  __shared__ std::uint32_t words[kPackedWords];
  if (threadIdx.x < kPackedWords) words[threadIdx.x] = a.scheme.packed_words[threadIdx.x];
  __syncthreads();
  const unsigned first = (blockIdx.x * kBlock + threadIdx.x) / kLanes * 2;
  PackedPairs pairs;
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    if (first + half >= a.n_pairs) continue;
    const PairTask task = a.tasks[first + half];
    pairs.query[half] = a.residues + task.query;
    pairs.target[half] = a.residues + task.target;
    pairs.n_rows[half] = task.n_rows;
    pairs.n_columns[half] = task.n_columns;
    if (half == 0) pairs.border = a.borders + task.border;
  }
  PackedLane<kWave, kLanes, kRows, kLocal> lane(pairs, a.scheme, words);
  lane.fill();
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    const PairEnd end = lane.end(static_cast<int>(half));
    if (first + half < a.n_pairs && threadIdx.x % kLanes == 0) a.ends[first + half] = end;
  }
}

template <int kShape>
void launch_shape(const PairCellsArgs& a, Stream& stream) {
  constexpr int kLanes = kPackedShapes[kShape].n_lanes;
  constexpr int kRows = kPackedShapes[kShape].n_rows;
  const bool wide = stream.wave_width() == 64;
  const auto kernel = a.scheme.local ? (wide ? pair_score_i16_kernel<64, kLanes, kRows, true>
                                             : pair_score_i16_kernel<32, kLanes, kRows, true>)
                                     : (wide ? pair_score_i16_kernel<64, kLanes, kRows, false>
                                             : pair_score_i16_kernel<32, kLanes, kRows, false>);
  const std::size_t n_groups = ceil_div<std::size_t>(a.n_pairs, 2);
  stream.launch(kernel, ceil_div<std::size_t>(n_groups, kBlock / kLanes), kBlock, a);
}

}  // namespace

void launch_pair_score_i16(const PairCellsArgs& a, int shape, Stream& stream) {
  if (a.n_pairs == 0) return;  // an empty grid is a launch error
  switch (shape) {
    case 0:
      return launch_shape<0>(a, stream);
    case 1:
      return launch_shape<1>(a, stream);
    case 2:
      return launch_shape<2>(a, stream);
    default:
      return launch_shape<3>(a, stream);
  }
}

}  // namespace biogpu::gpu::align
