#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/proteinmpnn/inputs/complex.hpp"

namespace biogpu::models::proteinmpnn {

// Points of receiver and neighbour between which distances are features, in the order of the
// weights' columns.
using PointPair = std::uint8_t[2];
std::span<const PointPair> point_pairs(bool ca_only);

// What the features of edges are made of (lib/models/proteinmpnn/ops/edge_embed.hpp).
class Geometry {
 public:
  // noise: added to the coordinates, as many numbers; may be none.
  Geometry(const Complex& complex, const std::vector<float>& noise);

  // [n][n_points][3], of which point 1 is the CA atom, and [n][9], axes of models of CA atoms only.
  using Point = std::array<float, 3>;
  int n_points() const { return n_points_; }
  const std::vector<Point>& points() const { return points_; }
  const std::vector<std::array<float, 9>>& frames() const { return frames_; }

 private:
  void add_virtual_atoms(const Complex& complex, const std::vector<float>& xyz);
  void add_frames();

  bool ca_only_;
  std::int64_t n_;
  int n_points_;  // of a residue: N, CA, C, O, CB; or CA of the one before, it, the next
  std::vector<Point> points_;  // [n][n_points]
  std::vector<Point> ca_;
  std::vector<std::array<float, 9>> frames_;  // ca_only: rows are the axes at a residue
};

}  // namespace biogpu::models::proteinmpnn
