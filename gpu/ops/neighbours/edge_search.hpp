#pragma once

// Device side of lib/ops/neighbours/neighbour_list.hpp: which atoms are neighbours, to the bit as
// on a CPU.

#include <cstdint>

#include "gpu/prim/exact_math.hpp"
#include "gpu/rt/hip.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

struct EdgeSearch {
  const float* positions;        // [T, 3]
  const float* boxes;            // [n_segments, 9] or null
  const std::int32_t* segments;  // [n_segments + 1]
  std::int64_t n_segments, n_atoms;
  float lower_squared, upper_squared;
  bool self_pairs;
};

struct EdgeArrays {
  std::int32_t *starts, *count, *receivers, *neighbours, *reverse;
  float *displacement, *distance;
  std::int32_t* images;  // null but where all images are listed
  std::int64_t capacity;
};

// Running sums of starts[1..], with `fills` none past the capacity, and their total to count
// (neighbour_list.hip).
void launch_sum_counts(const EdgeArrays& edges, std::int64_t n_atoms, bool fills, Stream& stream);

struct Molecule {
  std::int32_t begin, end;
  const float* box;  // or null
};

// Of an atom; empty past the last molecule.
__device__ inline Molecule molecule_of(const EdgeSearch& s, std::int64_t atom) {
  std::int64_t low = 0, high = s.n_segments;  // the first segment that ends behind the atom
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (s.segments[middle + 1] <= atom) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == s.n_segments) return {0, 0, nullptr};
  const float* box = s.boxes != nullptr ? s.boxes + 9 * low : nullptr;
  if (box != nullptr && box[0] == 0 && box[4] == 0 && box[8] == 0) box = nullptr;
  return {s.segments[low], s.segments[low + 1], box};
}

struct EdgeVector {
  float x, y, z;
  __device__ float squared() const { return exact_dot(x, x, y, y, z, z); }
};

// The steps of Displacement, lib/ops/neighbours/minimum_image.hpp.
__device__ inline EdgeVector edge_vector(const float* to, const float* from, const float* box) {
  EdgeVector r{to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  if (box == nullptr) return r;
  const float n_c = rintf(r.z / box[8]);
  r.x = exact_minus_product(r.x, n_c, box[6]);
  r.y = exact_minus_product(r.y, n_c, box[7]);
  r.z = exact_minus_product(r.z, n_c, box[8]);
  const float n_b = rintf(r.y / box[4]);
  r.x = exact_minus_product(r.x, n_b, box[3]);
  r.y = exact_minus_product(r.y, n_b, box[4]);
  r.x = exact_minus_product(r.x, rintf(r.x / box[0]), box[0]);
  return r;
}

__device__ inline bool are_neighbours(const EdgeSearch& s, std::int64_t i, std::int64_t j,
                                      const float* box) {
  if (i == j) return s.self_pairs;
  const float squared = edge_vector(s.positions + 3 * i, s.positions + 3 * j, box).squared();
  return squared >= s.lower_squared && squared < s.upper_squared;
}

}  // namespace biogpu::gpu::ops
