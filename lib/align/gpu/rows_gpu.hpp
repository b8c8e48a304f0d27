#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/align/cells.hpp"
#include "lib/align/align.hpp"

namespace biogpu::align {

// What the GPU backend's batches share: work over their pairs by all threads of the calling task
// arena, and the way from what kernels report to rows.

// Pairs that a thread takes at a time.
inline constexpr std::size_t kPairsOfChunk = 1024;

// The row of a pair from what the kernels report; cigar_begin is the path's place in their runs.
void set_gpu_row(const Options& options, Alignment& row, const gpu::align::PairEnd& end,
                 const gpu::align::PairPath& path);

// Appends the paths of rows [first, last) to all.cigar in the order of the rows. They lie anywhere
// in runs, where cigar_begin says.
void append_paths(std::span<const std::uint32_t> runs, std::size_t first, std::size_t last,
                  Alignments& all);

}  // namespace biogpu::align
