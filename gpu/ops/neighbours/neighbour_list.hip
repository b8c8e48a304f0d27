// Pairs of atoms of one molecule within a cutoff, sorted by receiver and neighbour.
//
// Shapes   see lib/ops/neighbours/neighbour_list.hpp and lib/ops/neighbours/edges.hpp.
// Mapping  count and fill: one wave per atom, whose lanes look at kWave atoms of the molecule at a
//          time; a ballot gives each neighbour its slot, so neighbours rise. Sum of counts: one
//          block, a run of atoms per thread. Reverse edges and pads: one thread per slot.
// Traffic  12 n bytes from L2 and 12 n operations per atom of a molecule of n atoms, twice; 32
//          bytes an edge written. Bound by arithmetic: 0.5 Gpairs, 6 GFLOP for 16,000 atoms.
// Result   the CPU's bits: every step is rounded.
// Source   own; the image in the box as torchmd-net takes it.
// Oracle   neighbour_list_ref, lib/ops/neighbours/neighbour_list_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/ops/neighbours/edge_search.hpp"
#include "gpu/ops/neighbours/image_list.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/wave.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr unsigned kSumBlock = 1024;
constexpr std::int64_t kMaxEdges = 0x7fffffff;

__device__ __forceinline__ int count_bits(std::uint64_t bits) {
  return __popcll(static_cast<unsigned long long>(bits));
}

__device__ inline void write_edge(const EdgeArrays& edges, std::int64_t e, std::int32_t i,
                                  std::int32_t j, const EdgeVector& r) {
  edges.receivers[e] = i;
  edges.neighbours[e] = j;
  edges.displacement[3 * e] = r.x;
  edges.displacement[3 * e + 1] = r.y;
  edges.displacement[3 * e + 2] = r.z;
  edges.distance[e] = exact_root(r.squared());
}

// Counts to starts[i + 1], or with kFill the edges from starts[i] on.
template <int kWave, bool kFill>
__global__ __launch_bounds__(kRowBlock) void search_kernel(EdgeSearch s, EdgeArrays edges) {
  const std::int64_t i = thread_number() / kWave;
  if (i >= s.n_atoms) return;  // the whole wave
  const int lane = wave_lane<kWave>();
  const Molecule molecule = molecule_of(s, i);
  std::int64_t slot = kFill ? edges.starts[i] : 0;
  const std::int64_t end = kFill ? edges.starts[i + 1] : 0;
  for (std::int32_t first = molecule.begin; first < molecule.end; first += kWave) {
    const std::int32_t j = first + lane;
    const bool found = j < molecule.end && are_neighbours(s, i, j, molecule.box);
    const std::uint64_t all = wave_ballot<kWave>(found);
    if constexpr (kFill) {
      const std::int64_t e = slot + count_bits(all & ((std::uint64_t{1} << lane) - 1));
      if (found && e < end)
        write_edge(
            edges, e, static_cast<std::int32_t>(i), j,
            edge_vector(s.positions + 3 * i, s.positions + 3 * std::int64_t{j}, molecule.box));
    }
    slot += count_bits(all);
  }
  if (!kFill && lane == 0) edges.starts[i + 1] = static_cast<std::int32_t>(slot);
}

// Running sums of starts[1..], none past the limit.
__global__ __launch_bounds__(kSumBlock) void sum_counts_kernel(EdgeArrays edges,
                                                               std::int64_t n_atoms,
                                                               std::int64_t limit) {
  __shared__ std::int64_t sums[kSumBlock];
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t each = (n_atoms + kSumBlock - 1) / kSumBlock;
  const std::int64_t begin = thread * each < n_atoms ? thread * each : n_atoms;
  const std::int64_t end = begin + each < n_atoms ? begin + each : n_atoms;
  std::int64_t sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += edges.starts[i + 1];
  sums[thread] = sum;
  __syncthreads();
  for (int step = 1; step < static_cast<int>(kSumBlock); step *= 2) {
    const std::int64_t before = thread >= step ? sums[thread - step] : 0;
    __syncthreads();
    sums[thread] += before;
    __syncthreads();
  }
  std::int64_t total = sums[thread] - sum;
  for (std::int64_t i = begin; i < end; ++i) {
    total += edges.starts[i + 1];
    edges.starts[i + 1] = static_cast<std::int32_t>(total < limit ? total : limit);
  }
  if (thread != static_cast<int>(kSumBlock) - 1) return;
  edges.starts[0] = 0;
  *edges.count = static_cast<std::int32_t>(total < kMaxEdges ? total : kMaxEdges);
}

__global__ __launch_bounds__(kRowBlock) void reverse_kernel(EdgeArrays edges,
                                                            std::int64_t n_atoms) {
  const std::int64_t e = thread_number();
  if (e >= edges.capacity) return;
  edges.reverse[e] = static_cast<std::int32_t>(e);
  if (e >= edges.starts[n_atoms]) return write_edge(edges, e, 0, 0, {0, 0, 0});
  const std::int32_t i = edges.receivers[e], j = edges.neighbours[e];
  std::int32_t low = edges.starts[j], high = edges.starts[j + 1];
  const std::int32_t end = high;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (edges.neighbours[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < end && edges.neighbours[low] == i) edges.reverse[e] = low;
}

template <int kWave>
void launch(const EdgeSearch& s, const EdgeArrays& edges, bool fills, Stream& stream) {
  const std::size_t blocks = row_blocks(s.n_atoms * kWave);
  if (blocks > 0) stream.launch(search_kernel<kWave, false>, blocks, kRowBlock, s, edges);
  launch_sum_counts(edges, s.n_atoms, fills, stream);
  if (edges.capacity == 0) return;
  if (blocks > 0) stream.launch(search_kernel<kWave, true>, blocks, kRowBlock, s, edges);
  stream.launch(reverse_kernel, row_blocks(edges.capacity), kRowBlock, edges, s.n_atoms);
}

}  // namespace

void launch_sum_counts(const EdgeArrays& edges, std::int64_t n_atoms, bool fills, Stream& stream) {
  stream.launch(sum_counts_kernel, 1, kSumBlock, edges, n_atoms,
                fills ? edges.capacity : kMaxEdges);
}

void neighbour_list(Device& device, const biogpu::ops::NeighbourList& op) {
  const biogpu::ops::Edges& to = op.edges;
  const EdgeArrays edges{to.starts.as<std::int32_t>(),
                         to.count.as<std::int32_t>(),
                         to.receivers.as<std::int32_t>(),
                         to.neighbours.as<std::int32_t>(),
                         to.reverse.as<std::int32_t>(),
                         to.displacement.as<float>(),
                         to.distance.as<float>(),
                         to.images.as<std::int32_t>(),
                         to.capacity()};
  const bool fills = !to.neighbours.empty();
  const auto* const segments = op.segments->device_starts.as<std::int32_t>();
  const std::int64_t n_segments = op.segments->n_segments, n_atoms = op.positions.shape[0];
  if (op.all_images) {
    const ImageSearch s{op.positions.as<double>(),
                        op.boxes.as<double>(),
                        segments,
                        n_segments,
                        n_atoms,
                        op.cutoff_upper,
                        op.cutoff_lower * op.cutoff_lower,
                        op.cutoff_upper * op.cutoff_upper,
                        op.self_pairs};
    return launch_image_list(device, s, edges, fills);
  }
  const auto lower = static_cast<float>(op.cutoff_lower),
             upper = static_cast<float>(op.cutoff_upper);
  const EdgeSearch s{op.positions.as<float>(),
                     op.boxes.as<float>(),
                     segments,
                     n_segments,
                     n_atoms,
                     lower * lower,
                     upper * upper,
                     op.self_pairs};
  if (device.stream().wave_width() == 64) return launch<64>(s, edges, fills, device.stream());
  launch<32>(s, edges, fills, device.stream());
}

}  // namespace biogpu::gpu::ops
