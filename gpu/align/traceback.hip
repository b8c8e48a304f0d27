// The path of each pair as run lengths in BAM coding, and its statistics, read off the trace of
// pair_trace.hip or pair_trace_i16.hip.
//
// Shapes   trace as written there; scratch_runs: n_rows + n_columns words a pair; paths[n_pairs];
//          runs: all paths one after the other, n_runs words used.
// Mapping  one thread a pair, 64 threads a block: the traceback is a chain of dependent reads,
// hidden by
//          the number of pairs.
// Traffic  one 32-byte sector of trace a path column, and half a sector of letters, which are read
//          by words: residues begins at a multiple of 8, and the words that hold its last letters
//          are allocated. Bound by memory latency and the rate of sectors.
// Result   each path is exact and deterministic; its place in runs is not (an atomic hands it out),
//          so readers go through PairPath::run_begin.
// Limits   2^32 runs a batch.
// Source   own.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/traceback.hpp"

#include "gpu/align/dp_tile.hpp"
#include "gpu/align/traceback_steps.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr unsigned kBlock = 64;

template <bool kPacked>
__global__ void traceback_kernel(TracebackArgs a) {
  __shared__ std::int8_t scores[kScoreBytes];
  load_scores(scores, a.scheme.scores);
  const unsigned pair = blockIdx.x * kBlock + threadIdx.x;
  if (pair >= a.n_pairs) return;
  const PairTask task = a.tasks[pair];
  if (task.n_rows == 0) return;  // a place without a pair
  const PairEnd end = a.ends[pair];
  std::uint32_t* const scratch = a.scratch_runs == nullptr ? nullptr : a.scratch_runs + task.runs;
  const TracebackPair sequences = {a.residues + task.query,
                                   a.residues + task.target,
                                   task.n_rows,
                                   task.n_columns,
                                   scores,
                                   scratch};
  TracebackState state = begin_traceback(end, a.scheme.local, sequences);
  if (state.done != 0) {  // a local alignment of score 0
    a.paths[pair] = {0, 0, 0, 0, 0, 0, 0};
    return;
  }
  if constexpr (kPacked) {
    const PairTask first = a.tasks[pair / 2 * 2];  // the two share a trace
    const PackedTraceView view = {a.trace + first.trace, a.shape, first.n_columns,
                                  static_cast<std::int32_t>(pair % 2)};
    traceback_tile<true>(state, view, a.scheme, sequences);
  } else {
    const TraceView view = {a.trace + task.trace, a.shape, task.n_columns, 0, 0};
    traceback_tile<true>(state, view, a.scheme, sequences);
  }
  store_path(end_traceback(state, a.scheme, sequences), scratch, a.n_runs, a.runs, a.paths + pair);
}

}  // namespace

void launch_traceback(const TracebackArgs& args, Stream& stream) {
  if (args.n_pairs == 0) return;
  const auto kernel = args.packed ? traceback_kernel<true> : traceback_kernel<false>;
  stream.launch(kernel, ceil_div<std::size_t>(args.n_pairs, kBlock), kBlock, args);
}

}  // namespace biogpu::gpu::align
