#pragma once

#include <cmath>
#include <cstdint>

namespace biogpu::ops {

// The displacement x - y of two atoms, in the image that NeighbourList describes. Sources that use
// it are compiled without fused multiplications (lib/ops/CMakeLists.txt).
template <class T>
struct Displacement {
  T x, y, z;

  // box: a, b, c as 9 numbers, or null.
  Displacement(const T* to, const T* from, const T* box)
      : x(to[0] - from[0]), y(to[1] - from[1]), z(to[2] - from[2]) {
    if (box == nullptr) return;
    const T n_c = std::nearbyint(z / box[8]);
    x -= n_c * box[6];
    y -= n_c * box[7];
    z -= n_c * box[8];
    const T n_b = std::nearbyint(y / box[4]);
    x -= n_b * box[3];
    y -= n_b * box[4];
    x -= std::nearbyint(x / box[0]) * box[0];
  }
  T squared() const { return x * x + y * y + z * z; }
};

// A molecule's box, or null where it has none.
template <class T>
const T* box_of(const T* boxes, std::int64_t segment) {
  if (boxes == nullptr) return nullptr;
  const T* const box = boxes + 9 * segment;
  return box[0] == 0 && box[4] == 0 && box[8] == 0 ? nullptr : box;
}

}  // namespace biogpu::ops
