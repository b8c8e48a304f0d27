// The path of each pair as run lengths in BAM coding, read off the trace of pair_trace.hip.
//
// Shapes   trace as in pair_trace.hip; scratch_runs: n_rows + n_columns words a pair;
// paths[n_pairs];
//          runs: all paths one after the other, n_runs words used.
// Mapping  one thread a pair, 64 threads a block: the walk is a chain of dependent reads, hidden by
//          the number of pairs.
// Traffic  one 32-byte sector of trace a path column; bound by memory latency.
// Result   each path is exact and deterministic; its place in runs is not (an atomic hands it out),
//          so readers go through PairPath::run_begin.
// Limits   2^32 runs a batch.
// Source   own.
// Oracle   align_ref, lib/align/align_ref.cpp.
#include "gpu/align/path_walk.hpp"

#include "gpu/align/pair_cells.hpp"
#include "gpu/align/walk_trace.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr unsigned kBlock = 64;

__global__ void path_walk_kernel(PathWalkArgs a, GroupShape shape) {
  const unsigned pair = blockIdx.x * kBlock + threadIdx.x;
  if (pair >= a.n_pairs) return;
  const PairTask task = a.tasks[pair];
  const PairEnd end = a.ends[pair];
  std::uint32_t* scratch = a.scratch_runs + task.runs;
  WalkState state = begin_walk(end, a.scheme.local, task.n_rows, task.n_columns, scratch);
  if (state.done != 0) {  // a local alignment of score 0
    a.paths[pair] = {0, 0, 0, 0};
    return;
  }
  const TraceView view = {a.trace + task.trace, shape, task.n_columns, 0, 0};
  walk_rectangle(state, view, a.residues + task.query, a.residues + task.target, scratch);
  PairPath path = end_walk(state, a.scheme, scratch);
  path.n_runs = static_cast<std::uint32_t>(state.n_runs);
  path.run_begin = atomicAdd(a.n_runs, path.n_runs);
  for (std::uint32_t i = 0; i < path.n_runs; ++i) {
    a.runs[path.run_begin + i] = scratch[path.n_runs - 1 - i];
  }
  a.paths[pair] = path;
}

}  // namespace

void launch_path_walk(const PathWalkArgs& args, int shape, Stream& stream) {
  if (args.n_pairs == 0) return;
  const auto index = static_cast<std::size_t>(shape);
  stream.launch(path_walk_kernel, ceil_div<std::size_t>(args.n_pairs, kBlock), kBlock, args,
                kPairShapes[index]);
}

}  // namespace biogpu::gpu::align
