// Atoms of molecules in cells, for lists with all images.
//
// Shapes   see gpu/ops/neighbours/image_cells.hpp.
// Mapping  one block a molecule, whose threads take atoms in turn: extent, grid, counts of cells,
//          starts of cells, slots. The cell of an atom is computed once.
// Traffic  24 bytes of positions twice, 28 of its cell and 56 of its slot an atom. A large molecule
//          has one block: latency of atomics and loads is likely to bound it; not profiled.
// Result   which atoms a cell has. Their order there is by atomics and differs from run to run.
// Limits   cells no more than atoms, 1e5 along an axis.
// Source   own.
// Oracle   through neighbour_images_ref, lib/ops/neighbours/neighbour_images.cpp.
#include "gpu/ops/neighbours/image_bins.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kBinBlock = 512;

// The smallest and largest coordinates of a molecule, in [0] of each array.
__device__ inline void find_extent(const double* positions, std::int32_t begin, std::int32_t end,
                                   double (*low)[kBinBlock], double (*high)[kBinBlock]) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 3; ++k) {
    double min = positions[3 * std::int64_t{begin} + k], max = min;
    for (std::int64_t i = begin + thread; i < end; i += kBinBlock) {
      const double x = positions[3 * i + k];
      min = x < min ? x : min;
      max = x > max ? x : max;
    }
    low[k][thread] = min;
    high[k][thread] = max;
  }
  for (int step = kBinBlock / 2; step > 0; step /= 2) {
    __syncthreads();
    if (thread >= step) continue;
    for (int k = 0; k < 3; ++k) {
      const double x = low[k][thread + step], y = high[k][thread + step];
      if (x < low[k][thread]) low[k][thread] = x;
      if (y > high[k][thread]) high[k][thread] = y;
    }
  }
  __syncthreads();
}

// cell_starts of a molecule's cells from their counts.
__device__ inline void start_cells(const CellArrays& cells, const ImageGrid& grid,
                                   std::int32_t* sums) {
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int32_t n_cells = grid.size[0] * grid.size[1] * grid.size[2];
  const std::int32_t each = (n_cells + kBinBlock - 1) / kBinBlock;
  const std::int32_t begin = thread * each < n_cells ? thread * each : n_cells;
  const std::int32_t end = begin + each < n_cells ? begin + each : n_cells;
  std::int32_t sum = 0;
  for (std::int32_t c = begin; c < end; ++c) sum += cells.cell_counts[grid.first + c];
  sums[thread] = sum;
  __syncthreads();
  for (int step = 1; step < kBinBlock; step *= 2) {
    const std::int32_t before = thread >= step ? sums[thread - step] : 0;
    __syncthreads();
    sums[thread] += before;
    __syncthreads();
  }
  std::int32_t slot = grid.first + sums[thread] - sum;
  for (std::int32_t c = begin; c < end; ++c) {
    cells.cell_starts[grid.first + c] = slot;
    slot += cells.cell_counts[grid.first + c];
  }
  __syncthreads();
}

__device__ inline std::int32_t cell_number(const ImageGrid& grid, const std::int32_t* cell) {
  return grid.first + (cell[0] * grid.size[1] + cell[1]) * grid.size[2] + cell[2];
}

__global__ __launch_bounds__(kBinBlock) void image_bins_kernel(ImageSearch s, CellArrays cells) {
  __shared__ double low[3][kBinBlock], high[3][kBinBlock];
  __shared__ std::int32_t sums[kBinBlock];
  __shared__ ImageGrid grid;
  const std::int64_t segment = blockIdx.x;
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const std::int32_t begin = s.segments[segment], end = s.segments[segment + 1];
  if (begin == end) return;  // the whole block
  const double* box = s.boxes != nullptr ? s.boxes + 9 * segment : nullptr;
  bool has_box = false;
  for (int k = 0; box != nullptr && k < 9; ++k) has_box = has_box || box[k] != 0;
  if (!has_box) find_extent(s.positions, begin, end, low, high);
  if (thread == 0) {
    const double min[3] = {low[0][0], low[1][0], low[2][0]};
    const double max[3] = {high[0][0], high[1][0], high[2][0]};
    make_grid(s, has_box ? box : nullptr, end - begin, min, max, grid);
    grid.first = begin;
    cells.grids[segment] = grid;
  }
  for (std::int32_t c = begin + thread; c < end; c += kBinBlock) cells.cell_counts[c] = 0;
  __syncthreads();
  for (std::int32_t i = begin + thread; i < end; i += kBinBlock) {
    AtomCell found = find_cell(grid, s.positions + 3 * std::int64_t{i});
    found.rank_in_cell = atomicAdd(cells.cell_counts + cell_number(grid, found.cell), 1);
    cells.atom_cells[i] = found;
  }
  __syncthreads();
  start_cells(cells, grid, sums);
  for (std::int32_t i = begin + thread; i < end; i += kBinBlock) {
    const double* const x = s.positions + 3 * std::int64_t{i};
    const AtomCell found = cells.atom_cells[i];
    const std::int32_t slot = cells.cell_starts[cell_number(grid, found.cell)] + found.rank_in_cell;
    BinnedAtom atom;
    for (int k = 0; k < 3; ++k) {
      atom.x[k] = x[k];
      atom.wrap[k] = found.wrap[k];
      atom.cell[k] = found.cell[k];
    }
    atom.atom = i;
    atom.segment = static_cast<std::int32_t>(segment);
    cells.binned[slot] = atom;
  }
}

}  // namespace

void launch_image_bins(const ImageSearch& search, const CellArrays& cells, Stream& stream) {
  if (search.n_segments == 0) return;
  stream.launch(image_bins_kernel, static_cast<std::size_t>(search.n_segments), kBinBlock, search,
                cells);
}

}  // namespace biogpu::gpu::ops
