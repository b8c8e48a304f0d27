// All images of atoms within a cutoff, sorted by receiver, neighbour and shift: neighbour_list with
// all_images.
//
// Shapes   see lib/ops/neighbours/neighbour_list.hpp and lib/ops/neighbours/edges.hpp.
// Mapping  cells: one block a molecule. Count, fill, sort, reverse: one wave per atom, in the order
//          of cells; a ballot gives each neighbour its place, and what it is less than in its row
//          the final one. Pads: one thread per slot.
// Traffic  64 bytes an atom of the 27 cells around an atom, twice, from L2; 48 bytes an edge
//          written, 8 m for a row of m edges read to sort it. Bound by latency of loads.
// Result   the host's bits: displacements and squares are of double precision, every step rounded;
//          nothing depends on the order that atoms have in a cell, which atomics decide.
// Source   own.
// Oracle   neighbour_images_ref, lib/ops/neighbours/neighbour_images.cpp.
#include "gpu/ops/neighbours/image_list.hpp"

#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr std::int32_t kMaxRow = 0x7fffffff;

// The least and greatest coordinates of a molecule, in [0] of each array.
__device__ inline void find_extent(const double* positions, std::int32_t begin, std::int32_t end,
                                   double (*low)[kBinBlock], double (*high)[kBinBlock]) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 3; ++k) {
    double least = positions[3 * std::int64_t{begin} + k], greatest = least;
    for (std::int64_t i = begin + thread; i < end; i += kBinBlock) {
      const double x = positions[3 * i + k];
      least = x < least ? x : least;
      greatest = x > greatest ? x : greatest;
    }
    low[k][thread] = least;
    high[k][thread] = greatest;
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

__global__ __launch_bounds__(kBinBlock) void bin_kernel(ImageSearch s, CellArrays cells) {
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
    const double least[3] = {low[0][0], low[1][0], low[2][0]};
    const double greatest[3] = {high[0][0], high[1][0], high[2][0]};
    make_grid(s, has_box ? box : nullptr, end - begin, least, greatest, grid);
    grid.first = begin;
    cells.grids[segment] = grid;
  }
  for (std::int32_t c = begin + thread; c < end; c += kBinBlock) cells.cell_counts[c] = 0;
  __syncthreads();
  std::int32_t cell[3], wrap[3];
  for (std::int32_t i = begin + thread; i < end; i += kBinBlock) {
    bin_atom(grid, s.positions + 3 * std::int64_t{i}, cell, wrap);
    cells.places[i] = atomicAdd(cells.cell_counts + cell_number(grid, cell), 1);
  }
  __syncthreads();
  start_cells(cells, grid, sums);
  for (std::int32_t i = begin + thread; i < end; i += kBinBlock) {
    const double* const x = s.positions + 3 * std::int64_t{i};
    bin_atom(grid, x, cell, wrap);
    const std::int32_t slot = cells.cell_starts[cell_number(grid, cell)] + cells.places[i];
    BinnedAtom atom;
    for (int k = 0; k < 3; ++k) {
      atom.x[k] = x[k];
      atom.wrap[k] = wrap[k];
      atom.cell[k] = cell[k];
    }
    atom.atom = i;
    atom.segment = static_cast<std::int32_t>(segment);
    cells.binned[slot] = atom;
  }
}

// Counts to starts[i + 1], or with kFill the edges of each row in any order: the slot of the
// neighbour to receivers and its image to reverse, where sort_kernel finds them.
template <int kWave, bool kFill>
__global__ __launch_bounds__(kRowBlock) void image_search_kernel(ImageSearch s, CellArrays cells,
                                                                 EdgeArrays edges) {
  const std::int64_t at = thread_number() / kWave;
  if (at >= s.n_atoms) return;  // the whole wave
  const int lane = wave_lane<kWave>();
  if (at >= s.segments[s.n_segments]) {
    if (!kFill && lane == 0) edges.starts[at + 1] = 0;
    return;
  }
  const BinnedAtom to = cells.binned[at];
  const ImageGrid& grid = cells.grids[to.segment];
  const std::int64_t begin = kFill ? edges.starts[to.atom] : 0;
  const std::int64_t end = kFill ? edges.starts[to.atom + 1] : 0;
  std::int64_t n = 0;
  for_images<kWave>(cells, grid, to, lane, [&](std::int32_t slot, const std::int32_t* image) {
    const bool found = slot >= 0 && is_edge(s, see_image(grid, to, cells.binned[slot], image));
    const std::uint64_t all = wave_ballot<kWave>(found);
    if constexpr (kFill) {
      const std::uint64_t before = all & ((std::uint64_t{1} << lane) - 1);
      const std::int64_t e = begin + n + __popcll(static_cast<unsigned long long>(before));
      if (found && e < end) {
        edges.receivers[e] = slot;
        edges.reverse[e] = image_number(image);
      }
    }
    n += __popcll(static_cast<unsigned long long>(all));
  });
  if (!kFill && lane == 0)
    edges.starts[to.atom + 1] = static_cast<std::int32_t>(n < kMaxRow ? n : kMaxRow);
}

// Each row by neighbour and image.
template <int kWave>
__global__ __launch_bounds__(kRowBlock) void sort_kernel(ImageSearch s, CellArrays cells,
                                                         EdgeArrays edges) {
  const std::int64_t at = thread_number() / kWave;
  if (at >= s.segments[s.n_segments]) return;
  const BinnedAtom to = cells.binned[at];
  const ImageGrid& grid = cells.grids[to.segment];
  const std::int32_t begin = edges.starts[to.atom], end = edges.starts[to.atom + 1];
  for (std::int32_t e = begin + wave_lane<kWave>(); e < end; e += kWave) {
    const BinnedAtom from = cells.binned[edges.receivers[e]];
    const std::int32_t number = edges.reverse[e];
    std::int32_t place = begin;
    for (std::int32_t other = begin; other < end; ++other) {
      const std::int32_t atom = cells.binned[edges.receivers[other]].atom;
      if (atom < from.atom || (atom == from.atom && edges.reverse[other] < number)) ++place;
    }
    std::int32_t image[3];
    image_of(number, image);
    const SeenImage seen = see_image(grid, to, from, image);
    edges.neighbours[place] = from.atom;
    edges.images[place] = number;
    for (int k = 0; k < 3; ++k)
      edges.displacement[3 * std::int64_t{place} + k] =
          seen.is_self ? 0.0f : static_cast<float>(seen.r[k]);
    edges.distance[place] = static_cast<float>(seen.is_self ? 0.0 : exact_root(seen.squared));
  }
}

// The edge with the same pair the other way round, in the row of the neighbour; e where it is not.
__device__ inline std::int32_t find_reverse(const EdgeArrays& edges, std::int32_t i,
                                            std::int32_t e) {
  const std::int32_t j = edges.neighbours[e], number = kBothImages - edges.images[e];
  std::int32_t low = edges.starts[j], high = edges.starts[j + 1];
  const std::int32_t end = high;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    const std::int32_t atom = edges.neighbours[middle];
    if (atom < i || (atom == i && edges.images[middle] < number)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && edges.neighbours[low] == i && edges.images[low] == number ? low : e;
}

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void image_reverse_kernel(EdgeArrays edges,
                                                                  std::int64_t n_atoms) {
  const std::int64_t thread = thread_number(), i = thread / kWave;
  if (thread >= edges.starts[n_atoms] && thread < edges.capacity) {
    edges.receivers[thread] = edges.neighbours[thread] = edges.images[thread] = 0;
    edges.reverse[thread] = static_cast<std::int32_t>(thread);
    for (int k = 0; k < 3; ++k) edges.displacement[3 * thread + k] = 0;
    edges.distance[thread] = 0;
  }
  if (i >= n_atoms) return;
  for (std::int32_t e = edges.starts[i] + wave_lane<kWave>(); e < edges.starts[i + 1]; e += kWave) {
    edges.receivers[e] = static_cast<std::int32_t>(i);
    edges.reverse[e] = find_reverse(edges, static_cast<std::int32_t>(i), e);
  }
}

// Memory of the cells: about a hundred bytes an atom.
class CellMemory {
 public:
  explicit CellMemory(Device&) {}

  CellArrays arrays(Device& device, std::int64_t n_segments, std::int64_t n_atoms) {
    const auto n = static_cast<std::size_t>(n_atoms);
    device.grow(grids_, static_cast<std::size_t>(n_segments));
    device.grow(binned_, n);
    for (auto* const numbers : {&counts_, &starts_, &places_}) device.grow(*numbers, n);
    return {grids_.data(), binned_.data(), counts_.data(), starts_.data(), places_.data()};
  }

 private:
  DeviceBuffer<ImageGrid> grids_;
  DeviceBuffer<BinnedAtom> binned_;
  DeviceBuffer<std::int32_t> counts_, starts_, places_;
};

template <int kWave>
void launch(const ImageSearch& s, const CellArrays& cells, const EdgeArrays& edges, bool fills,
            Stream& stream) {
  const std::size_t blocks = row_blocks(s.n_atoms * kWave);
  if (s.n_segments > 0)
    stream.launch(bin_kernel, static_cast<std::size_t>(s.n_segments), kBinBlock, s, cells);
  if (blocks > 0)
    stream.launch(image_search_kernel<kWave, false>, blocks, kRowBlock, s, cells, edges);
  launch_sum_counts(edges, s.n_atoms, fills, stream);
  if (edges.capacity == 0) return;
  if (blocks > 0) {
    stream.launch(image_search_kernel<kWave, true>, blocks, kRowBlock, s, cells, edges);
    stream.launch(sort_kernel<kWave>, blocks, kRowBlock, s, cells, edges);
  }
  const std::int64_t threads =
      s.n_atoms * kWave > edges.capacity ? s.n_atoms * kWave : edges.capacity;
  stream.launch(image_reverse_kernel<kWave>, row_blocks(threads), kRowBlock, edges, s.n_atoms);
}

}  // namespace

void launch_image_list(Device& device, const ImageSearch& search, const EdgeArrays& edges,
                       bool fills) {
  const CellArrays cells =
      device.state<CellMemory>().arrays(device, search.n_segments, search.n_atoms);
  if (device.stream().wave_width() == 64)
    return launch<64>(search, cells, edges, fills, device.stream());
  launch<32>(search, cells, edges, fills, device.stream());
}

}  // namespace biogpu::gpu::ops
