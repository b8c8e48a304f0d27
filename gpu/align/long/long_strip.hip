// Score, end and borders of one large pair in packed 16-bit words: strips of rows, one wave each,
// all of which run at once, each some columns behind the one above.
//
// Shapes   see LongPairArgs; strip_progress[1 + strips]: a counter that hands out strips, then for
//          each strip the columns that it has left below it.
// Mapping  dp_strip.hpp; a block of one wave a strip. Strips are drawn from a counter, so that
// the
//          one above always runs already.
// Traffic  8 bytes of border read and written a column and strip, which stay in the cache; kept
//          borders 8 bytes a cell. Bound by instructions: 10 for two cells.
// Result   exact, equal to long_pair.hip: cells are relative to a base, so that no score is too
//          large for 16 bits; independent of the wave width.
// Limits   targets of classes 0..3, costs as fits_strips() wants them.
// Source   O. Gotoh, doi:10.1016/0022-2836(82)90398-9; the mapping is our own, the chain of strips
//          as in E. F. de O. Sandes et al., doi:10.1109/TPDS.2012.194.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/long/dp_strip.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

template <int kWave, bool kLocal, StripOutput kOutput>
__global__ BIOGPU_LAUNCH_BOUNDS(kWave, 384 / kWave) void long_strip_kernel(LongPairArgs a) {
  __shared__ std::uint32_t words[kPackedWords];
  __shared__ StripStage stage;
  __shared__ std::uint32_t number;
  if (threadIdx.x == 0) number = atomicAdd(a.strip_progress - 1, 1u);
  for (unsigned i = threadIdx.x; i < kPackedWords; i += kWave) words[i] = a.scheme.packed_words[i];
  __syncthreads();
  const int strip = static_cast<int>(number);
  StripLane<kWave, kLocal, kOutput> lane(a, strip, words, stage);
  lane.fill();
  const BlockRowEnds ends = lane.ends();
  if (threadIdx.x == 0) a.ends[strip] = ends;
}

template <int kWave>
void launch_strips(const LongPairArgs& a, Stream& stream) {
  constexpr auto kScore = StripOutput::score, kEnds = StripOutput::ends;
  constexpr auto kBorders = StripOutput::borders;
  const bool keep = a.traceback != nullptr;
  auto* kernel =
      keep ? long_strip_kernel<kWave, false, kBorders> : long_strip_kernel<kWave, false, kEnds>;
  if (a.scheme.local) {
    kernel = long_strip_kernel<kWave, true, kScore>;
    if (a.with_ends) kernel = long_strip_kernel<kWave, true, kEnds>;
    if (keep) kernel = long_strip_kernel<kWave, true, kBorders>;
  }
  stream.launch(kernel, static_cast<std::size_t>(count_strips(a.n_rows)), kWave, a);
}

}  // namespace

void launch_long_strips(const LongPairArgs& a, Stream& stream) {
  stream.fill(a.strip_progress - 1, 0,
              (1 + static_cast<std::size_t>(count_strips(a.n_rows))) * sizeof(std::uint32_t));
  if (stream.wave_width() == 64) return launch_strips<64>(a, stream);
  launch_strips<32>(a, stream);
}

}  // namespace biogpu::gpu::align
