#pragma once

#include <array>
#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

// The shapes that pair_cells is compiled for, small tiles first.
inline constexpr std::array<GroupShape, 3> kPairShapes = {{{8, 8}, {8, 16}, {32, 16}}};

// One launch: pairs of similar size. Every pointer but those in the comments is device memory.
struct PairCellsArgs {
  CellScheme scheme;
  const PairTask* tasks = nullptr;         // [n_pairs]
  const std::uint8_t* residues = nullptr;  // queries and targets of the batch
  BorderCell* borders = nullptr;           // see PairTask::border
  std::uint32_t* trace = nullptr;          // see PairTask::trace; used by launch_pair_trace
  PairEnd* ends = nullptr;                 // [n_pairs], written
  std::uint32_t n_pairs = 0;
};

// Scores and ends; launch_pair_trace also writes the trace. shape: index into kPairShapes.
void launch_pair_cells(const PairCellsArgs& args, int shape, Stream& stream);
void launch_pair_trace(const PairCellsArgs& args, int shape, Stream& stream);

}  // namespace biogpu::gpu::align
