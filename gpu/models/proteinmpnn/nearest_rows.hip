// The nearest rows of every row of the same segment.
//
// Shapes   see lib/models/proteinmpnn/ops/nearest_rows.hpp.
// Mapping  a block a row; candidates pass through shared memory in pieces behind the nearest
//          so far; a candidate's place is the number of those before it.
// Traffic  13 bytes a row of the segment from L2; 2 compares a candidate and thread.
// Result   the CPU's bits: every step of a distance is rounded; ties go to the lower row.
// Source   own.
// Oracle   nearest_rows_ref, lib/models/proteinmpnn/ops/nearest_rows_ref.cpp.
#include "lib/models/proteinmpnn/ops/nearest_rows.hpp"

#include "gpu/models/proteinmpnn/edge_limits.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/prim/exact_math.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace {

constexpr int kMaxNeighbours = 48;

struct Segment {
  std::int32_t first, n;
};

struct NearestArgs {
  const float* points;  // of the first row
  std::int64_t pitch;   // from one row's point to the next row's
  const std::uint8_t* present;
  const Segment* segments;
  int n_neighbours;
  std::int32_t* rows;
  float* distances;
  std::int32_t* counts;
};

constexpr int kBlock = 256;
constexpr int kCandidates = 512;
constexpr std::uint64_t kNone = ~std::uint64_t{0};

__device__ __forceinline__ float point_distance(const NearestArgs& s, std::int64_t i,
                                                std::int64_t j) {
  const float* const a = s.points + i * s.pitch;
  const float* const b = s.points + j * s.pitch;
  return exact_root(exact_squares(b[0] - a[0], b[1] - a[1], b[2] - a[2], 1e-6f));
}

// The longest distance between this residue and any other, both present.
__device__ float longest_distance(const NearestArgs& s, std::int64_t row, Segment place) {
  __shared__ std::uint32_t longest;
  if (threadIdx.x == 0) longest = 0;
  __syncthreads();
  float own = 0;
  for (int j = static_cast<int>(threadIdx.x); j < place.n; j += kBlock)
    if (s.present[place.first + j] != 0) own = fmaxf(own, point_distance(s, row, place.first + j));
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

__global__ __launch_bounds__(kBlock) void nearest_rows_kernel(NearestArgs s) {
  __shared__ std::uint64_t keys[kCandidates];
  __shared__ std::uint64_t lowest[kMaxNeighbours];
  constexpr int kStep = kCandidates - kMaxNeighbours;
  const std::int64_t row = blockIdx.x;
  const Segment place = s.segments[row];
  const bool present = s.present[row] != 0;
  const float longest = present ? longest_distance(s, row, place) : 0.0f;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kMaxNeighbours) keys[thread] = kNone;
  for (int first = 0; first < place.n; first += kStep) {
    const int n = place.n - first < kStep ? place.n - first : kStep;
    for (int c = thread; c < n; c += kBlock) {
      const int j = first + c;
      const bool both = present && s.present[place.first + j] != 0;
      const float distance = both ? point_distance(s, row, place.first + j) : longest;
      keys[kMaxNeighbours + c] =
          static_cast<std::uint64_t>(bits_of(distance)) << 32 | static_cast<unsigned>(j);
    }
    __syncthreads();
    select_lowest(keys, lowest, kMaxNeighbours + n);
  }
  if (thread == 0) s.counts[row] = place.n < s.n_neighbours ? place.n : s.n_neighbours;
  if (thread >= s.n_neighbours) return;
  const bool used = thread < place.n;
  const std::int64_t at = row * s.n_neighbours + thread;
  s.rows[at] = used ? place.first + static_cast<std::int32_t>(keys[thread] & 0xffffffffu)
                    : static_cast<std::int32_t>(row);
  s.distances[at] = used ? number_of(static_cast<std::uint32_t>(keys[thread] >> 32)) : 0.0f;
}

}  // namespace

void nearest_rows(ops::Device& device, const models::proteinmpnn::NearestRows& op) {
  const std::int64_t n_rows = op.points.shape[0];
  require_neighbours("nearest_rows", op.rows.shape[1], kMaxNeighbours);
  if (n_rows == 0) return;
  const NearestArgs args{op.points.as<float>() + 3 * op.point,
                         op.points.stride[0],
                         op.present.as<std::uint8_t>(),
                         op.segments.as<Segment>(),
                         static_cast<int>(op.rows.shape[1]),
                         op.rows.as<std::int32_t>(),
                         op.distances.as<float>(),
                         op.counts.as<std::int32_t>()};
  device.stream().launch(nearest_rows_kernel, static_cast<std::size_t>(n_rows), kBlock, args);
}

}  // namespace biogpu::gpu::proteinmpnn
