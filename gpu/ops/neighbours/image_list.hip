// All images of atoms within a cutoff, sorted by receiver, neighbour and shift: neighbour_list with
// all_images.
//
// Shapes   see lib/ops/neighbours/neighbour_list.hpp and lib/ops/neighbours/edges.hpp.
// Mapping  one wave per atom, in the order of cells (image_bins.hip): one kernel counts, one fills,
//          one sorts rows, one finds reverse edges. A ballot gives each neighbour its place in the
//          unsorted row; the number of smaller keys in the row gives the final one. Pads: one
//          thread per slot.
// Traffic  56 bytes an atom of the 27 cells around an atom, twice; 40 bytes an edge written, 8 of
//          them before the row is sorted; 8 bytes of each edge of the row, and its slot's atom,
//          read to sort an edge. What bounds it is not profiled.
// Result   the host's bits: displacements and squares are of double precision, every step rounded;
//          nothing depends on the order that atoms have in a cell, which atomics decide.
// Limits   a row of m edges is sorted in m^2 / kWave steps of its wave: thousands of edges, as
//          boxes much narrower than the cutoff have, are for the host (expected_neighbours() of
//          lib/models/tensornet/device_edges.hpp).
// Source   own.
// Oracle   neighbour_images_ref, lib/ops/neighbours/neighbour_images.cpp.
#include "gpu/ops/neighbours/image_list.hpp"

#include "gpu/ops/neighbours/image_bins.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr std::int32_t kMaxRow = 0x7fffffff;

// Counts to starts[i + 1], or with kFill the edges of each row in any order: the slot of the
// neighbour to receivers and its image to reverse, where image_list_sort_kernel finds them.
template <int kWave, bool kFill>
__global__ __launch_bounds__(kRowBlock) void image_list_search_kernel(ImageSearch s,
                                                                      CellArrays cells,
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
__global__ __launch_bounds__(kRowBlock) void image_list_sort_kernel(ImageSearch s, CellArrays cells,
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
__global__ __launch_bounds__(kRowBlock) void image_list_reverse_kernel(EdgeArrays edges,
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

// Memory of the cells: 92 bytes an atom, with half as many again to spare.
class CellMemory {
 public:
  explicit CellMemory(Device&) {}

  CellArrays arrays(Device& device, std::int64_t n_segments, std::int64_t n_atoms) {
    grow(device, grids_, n_segments);
    grow(device, binned_, n_atoms);
    grow(device, atom_cells_, n_atoms);
    grow(device, counts_, n_atoms);
    grow(device, starts_, n_atoms);
    return {grids_.data(), binned_.data(), counts_.data(), starts_.data(), atom_cells_.data()};
  }

 private:
  // Growing waits for the device and ends captured passes: systems that grow little by little
  // should seldom do so.
  template <class T>
  static void grow(Device& device, DeviceBuffer<T>& buffer, std::int64_t n_wanted) {
    const auto n = static_cast<std::size_t>(n_wanted);
    if (n > buffer.size()) device.grow(buffer, n + n / 2);
  }

  DeviceBuffer<ImageGrid> grids_;
  DeviceBuffer<BinnedAtom> binned_;
  DeviceBuffer<AtomCell> atom_cells_;
  DeviceBuffer<std::int32_t> counts_, starts_;
};

template <int kWave>
void launch(const ImageSearch& s, const CellArrays& cells, const EdgeArrays& edges, bool fills,
            Stream& stream) {
  const std::size_t blocks = row_blocks(s.n_atoms * kWave);
  launch_image_bins(s, cells, stream);
  if (blocks > 0)
    stream.launch(image_list_search_kernel<kWave, false>, blocks, kRowBlock, s, cells, edges);
  launch_sum_counts(edges, s.n_atoms, fills, stream);
  if (edges.capacity == 0) return;
  if (blocks > 0) {
    stream.launch(image_list_search_kernel<kWave, true>, blocks, kRowBlock, s, cells, edges);
    stream.launch(image_list_sort_kernel<kWave>, blocks, kRowBlock, s, cells, edges);
  }
  const std::int64_t threads =
      s.n_atoms * kWave > edges.capacity ? s.n_atoms * kWave : edges.capacity;
  stream.launch(image_list_reverse_kernel<kWave>, row_blocks(threads), kRowBlock, edges, s.n_atoms);
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
