// The nearest residues of every residue.
//
// Shapes   see Structures.
// Mapping  a block a residue; candidates pass through shared memory in pieces behind the nearest
//          so far; a candidate's place is the number of those before it.
// Traffic  17 bytes a residue of the structure from L2; 2 compares a candidate and thread.
// Result   the CPU's bits: every step of a distance is rounded; ties go to the lower row.
// Source   own.
// Oracle   Geometry::find_neighbours, lib/models/proteinmpnn/graph.cpp.
#include "gpu/models/proteinmpnn/graph.hpp"
#include "gpu/prim/exact_math.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace {

constexpr int kBlock = 256;
constexpr int kCandidates = 512;
constexpr std::uint64_t kNone = ~std::uint64_t{0};

__device__ __forceinline__ float ca_distance(const Structures& s, std::int64_t i, std::int64_t j) {
  const float* const a = s.points + (i * s.n_points + 1) * 3;
  const float* const b = s.points + (j * s.n_points + 1) * 3;
  return exact_root(exact_squares(b[0] - a[0], b[1] - a[1], b[2] - a[2], 1e-6f));
}

// The longest distance between this residue and any other, both present.
__device__ float longest_distance(const Structures& s, std::int64_t row, Place place) {
  __shared__ std::uint32_t longest;
  if (threadIdx.x == 0) longest = 0;
  __syncthreads();
  float own = 0;
  for (int j = static_cast<int>(threadIdx.x); j < place.n; j += kBlock)
    if (s.present[place.first + j] != 0) own = fmaxf(own, ca_distance(s, row, place.first + j));
  atomicMax(&longest, bits_of(own));
  __syncthreads();
  return number_of(longest);
}

// Moves the kMaxNeighbours lowest of n keys, all different but for kNone, to the front in order.
__device__ void select_lowest(std::uint64_t* keys, std::uint64_t* lowest, int n) {
  if (threadIdx.x < kMaxNeighbours) lowest[threadIdx.x] = kNone;
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < n; c += kBlock) {
    const std::uint64_t key = keys[c];
    if (key == kNone) continue;
    int rank = 0;
    for (int other = 0; other < n; ++other) rank += keys[other] < key ? 1 : 0;
    if (rank < kMaxNeighbours) lowest[rank] = key;
  }
  __syncthreads();
  if (threadIdx.x < kMaxNeighbours) keys[threadIdx.x] = lowest[threadIdx.x];
  __syncthreads();
}

__global__ __launch_bounds__(kBlock) void neighbours_kernel(Structures s) {
  __shared__ std::uint64_t keys[kCandidates];
  __shared__ std::uint64_t lowest[kMaxNeighbours];
  constexpr int kStep = kCandidates - kMaxNeighbours;
  const std::int64_t row = blockIdx.x;
  const Place place = s.places[row];
  const bool present = s.present[row] != 0;
  const float longest = present ? longest_distance(s, row, place) : 0.0f;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kMaxNeighbours) keys[thread] = kNone;
  for (int first = 0; first < place.n; first += kStep) {
    const int n = place.n - first < kStep ? place.n - first : kStep;
    for (int c = thread; c < n; c += kBlock) {
      const int j = first + c;
      const bool both = present && s.present[place.first + j] != 0;
      const float distance = both ? ca_distance(s, row, place.first + j) : longest;
      keys[kMaxNeighbours + c] =
          static_cast<std::uint64_t>(bits_of(distance)) << 32 | static_cast<unsigned>(j);
    }
    __syncthreads();
    select_lowest(keys, lowest, kMaxNeighbours + n);
  }
  if (thread >= kMaxNeighbours) return;
  const bool used = thread < s.n_neighbours && thread < place.n;
  const std::int64_t at = row * kMaxNeighbours + thread;
  s.neighbours[at] = used ? place.first + static_cast<std::int32_t>(keys[thread] & 0xffffffffu)
                          : static_cast<std::int32_t>(row);
  s.distances[at] = used ? number_of(static_cast<std::uint32_t>(keys[thread] >> 32)) : 0.0f;
}

}  // namespace

void launch_neighbours(const Structures& structures, Stream& stream) {
  if (structures.n_rows == 0) return;
  stream.launch(neighbours_kernel, static_cast<std::size_t>(structures.n_rows), kBlock, structures);
}

}  // namespace biogpu::gpu::proteinmpnn
