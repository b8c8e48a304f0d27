#pragma once

#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

// Reads the paths of a launch of pair_trace. Device memory throughout.
struct PathWalkArgs {
  CellScheme scheme;
  const PairTask* tasks = nullptr;         // [n_pairs]
  const std::uint8_t* residues = nullptr;  // of the batch
  const std::uint32_t* trace = nullptr;    // of the batch
  const PairEnd* ends = nullptr;           // [n_pairs]
  std::uint32_t* scratch_runs = nullptr;   // see PairTask::runs; overwritten
  PairPath* paths = nullptr;               // [n_pairs], written
  std::uint32_t* runs = nullptr;           // as long as scratch_runs, written from its beginning
  std::uint32_t* n_runs = nullptr;         // one counter, 0 before the first launch of the batch
  std::uint32_t n_pairs = 0;
};

// shape: that of the pair_trace launch, index into kPairShapes. Paths lie in runs in any order.
void launch_path_walk(const PathWalkArgs& args, int shape, Stream& stream);

}  // namespace biogpu::gpu::align
