#pragma once

#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

// A matrix by anti-diagonals: line d holds the cells of a residues of the query and d - a of the
// target consumed, which is row a - 1 and column d - a - 1. a = 0 and a = d are the border. Only
// the cells of a line's window are computed: those in the band and, with X-drop, next to living
// ones.

// Cells that a group of lanes keeps of a line before it turns to device memory: one wave a pair
// where windows are narrow or not known, several where they are wide.
inline constexpr int kNarrowRing = 256;
inline constexpr int kWideRing = 1024;
inline constexpr int kWideWaves = 8;
// H of three lines, E and F of two.
inline constexpr int kRingLines = 7;
// Cells on either side of a window that its neighbours read.
inline constexpr int kRingMargin = 2;

// One pair of non-empty sequences; the offsets point into the arrays of the batch.
struct BandedTask {
  std::uint64_t query = 0;   // first residue
  std::uint64_t target = 0;  // first residue
  std::uint64_t ring = 0;    // first of kRingLines * ring_cells words
  std::uint64_t chunks = 0;  // first chunk of the trace
  std::uint64_t lines = 0;   // first of last_line + 2 lines
  std::uint64_t runs = 0;    // first of n_rows + n_columns runs
  std::int32_t n_rows = 0;
  std::int32_t n_columns = 0;
  std::int32_t low = 0, high = 0;  // column - row of the diagonals that paths may touch
  std::int32_t last_line = 0;      // no line behind it is computed
  std::int32_t ring_cells = 0;     // a power of 2; 0: no window leaves the shared memory
};

// The trace of 32 neighbouring cells of a line, a bit each: H not along the diagonal, E greater
// than F, E of the next column extends, F of the next row extends.
struct alignas(16) BandedChunk {
  std::uint32_t gap, e, extends_e, extends_f;
};
inline constexpr int kChunkCells = 32;
// Counts of chunks stay here once they have come so far: such a trace is not for a device.
inline constexpr std::uint32_t kMaxChunks = 0xf0000000u;

// Where a line's window begins and its trace; the next line says where it ends.
struct alignas(8) BandedLine {
  std::int32_t first;   // a of the first cell
  std::uint32_t chunk;  // of the pair
};

inline constexpr int kNoDrop = -1;

// Device memory throughout.
struct BandedArgs {
  CellScheme scheme;    // local: paths begin anywhere; never with a drop
  int xdrop = kNoDrop;  // 0 or more: an extension, see Options::xdrop of lib/align/align.hpp
  const BandedTask* tasks = nullptr;       // [n_pairs]
  const std::uint8_t* residues = nullptr;  // of the batch
  std::int32_t* rings = nullptr;           // see BandedTask::ring
  BandedLine* lines = nullptr;             // see BandedTask::lines; nullptr: not wanted
  BandedChunk* chunks = nullptr;           // see BandedTask::chunks; nullptr: no trace is wanted
  PairEnd* ends = nullptr;                 // [n_pairs], written
  std::uint32_t* n_chunks = nullptr;       // [n_pairs], written where lines are wanted: those up to
                                           // the line where the path ends
  std::uint32_t n_pairs = 0;
};

// wide: the pairs get kWideWaves waves and kWideRing cells each instead of one and kNarrowRing; not
// with a drop.
void launch_banded(const BandedArgs& args, bool wide, Stream& stream);

// Reads the paths off lines and chunks.
struct BandedTracebackArgs {
  BandedArgs filled;
  std::uint32_t* scratch_runs = nullptr;  // see BandedTask::runs; nullptr: statistics alone
  PairPath* paths = nullptr;              // [n_pairs], written
  std::uint32_t* runs = nullptr;          // as long as scratch_runs, written from its beginning
  std::uint32_t* n_runs = nullptr;        // one counter, 0 before the first launch of the batch
};

void launch_banded_traceback(const BandedTracebackArgs& args, Stream& stream);

}  // namespace biogpu::gpu::align
