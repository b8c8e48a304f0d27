// Scores, end positions and the trace of pairs of which only a part of the matrix is filled: a band
// of diagonals, or what X-drop leaves alive.
//
// Shapes   tasks[n_pairs], residues u8 classes, ends[n_pairs], lines and chunks as in
//          banded_xdrop.hpp, rings s32[kRingLines][ring_cells] of pairs whose windows may
//          outgrow shared memory.
// Mapping  one block a pair, neighbouring cells of an anti-diagonal to neighbouring threads, the
//          lines one after the other (dp_banded.hpp). Narrow: one wave and no barriers.
// Traffic  residues from the caches, 3 words read and 3 written in shared memory a cell; half a
//          byte of trace a cell written, in chunks of 32 cells. Bound by shared memory and by the
//          latency of a line where windows are narrow.
// Result   exact, independent of wave width, shape and batch.
// Limits   |score| below 2^30 (require_int32 in lib/align/border.hpp); 2^32 chunks a pair.
// Source   Z. Zhang et al., doi:10.1089/10665270050081478 for X-drop; the mapping is our own.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/banded/banded_xdrop.hpp"

#include "gpu/align/banded/dp_banded.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

template <int kWave, int kWaves, int kRing, bool kTrace>
__global__ BIOGPU_LAUNCH_BOUNDS(kWave* kWaves, 1) void banded_xdrop_kernel(BandedArgs a) {
  __shared__ std::int8_t scores[kScoreBytes];
  __shared__ int ring[kRingLines * kRing];
  __shared__ BandedShared<kWaves> shared;
  load_scores(scores, a.scheme.scores);
  const BandedTask task = a.tasks[blockIdx.x];
  BandedGroup<kWave, kWaves, kTrace> group(a, task, scores, ring, kRing, shared);
  group.fill();
  const PairEnd end = group.end();
  if (threadIdx.x != 0) return;
  a.ends[blockIdx.x] = end;
  if (a.n_chunks != nullptr) a.n_chunks[blockIdx.x] = group.count_chunks(end);
}

template <int kWaves, int kRing, bool kTrace>
void launch_ring(const BandedArgs& a, Stream& stream) {
  const bool wide = stream.wave_width() == 64;
  const auto kernel = wide ? banded_xdrop_kernel<64, kWaves, kRing, kTrace>
                           : banded_xdrop_kernel<32, kWaves, kRing, kTrace>;
  stream.launch(kernel, a.n_pairs, static_cast<unsigned>(kWaves * stream.wave_width()), a);
}

}  // namespace

void launch_banded(const BandedArgs& a, bool wide, Stream& stream) {
  if (a.n_pairs == 0) return;  // an empty grid is a launch error
  const bool trace = a.chunks != nullptr;
  if (wide)
    return trace ? launch_ring<kWideWaves, kWideRing, true>(a, stream)
                 : launch_ring<kWideWaves, kWideRing, false>(a, stream);
  trace ? launch_ring<1, kNarrowRing, true>(a, stream)
        : launch_ring<1, kNarrowRing, false>(a, stream);
}

}  // namespace biogpu::gpu::align
