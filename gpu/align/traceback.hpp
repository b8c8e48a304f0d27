#pragma once

#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

// Reads the paths of a launch of pair_trace or pair_trace_i16. Device memory throughout.
struct TracebackArgs {
  CellScheme scheme;
  const PairTask* tasks = nullptr;  // [n_pairs]
  // Of the batch; begins at a multiple of 8, and the word of its last letter is allocated as well.
  const std::uint8_t* residues = nullptr;
  const std::uint32_t* trace = nullptr;   // of the batch
  const PairEnd* ends = nullptr;          // [n_pairs]
  std::uint32_t* scratch_runs = nullptr;  // see PairTask::runs; nullptr: statistics alone
  PairPath* paths = nullptr;              // [n_pairs], written
  std::uint32_t* runs = nullptr;          // as long as scratch_runs, written from its beginning
  std::uint32_t* n_runs = nullptr;        // one counter, 0 before the first launch of the batch
  std::uint32_t n_pairs = 0;
  GroupShape shape;     // of the launch
  bool packed = false;  // pair_trace_i16
};

// Paths lie in runs in any order.
void launch_traceback(const TracebackArgs& args, Stream& stream);

}  // namespace biogpu::gpu::align
