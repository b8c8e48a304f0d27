#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/models/proteinmpnn/complex.hpp"

namespace biogpu::models::proteinmpnn {

// The nearest residues of each residue, itself first, by the distance of their CA atoms; ties go to
// the lower index. Residues that are not present come after all that are.
struct Graph {
  std::int64_t n = 0;
  std::int64_t k = 0;                    // neighbours of each residue: at most n
  std::vector<std::int32_t> neighbours;  // [n][k]
  std::vector<float> distances;          // [n][k] as the first block of features takes them
};

// Points of receiver and neighbour between which distances are features, in the order of the
// weights' columns.
using AtomPairs = std::span<const std::pair<std::uint8_t, std::uint8_t>>;
AtomPairs atom_pairs(bool ca_only);

// What the features of edges are made of.
class Geometry {
 public:
  // noise: added to the coordinates, as many numbers; may be none.
  Geometry(const Complex& complex, const std::vector<float>& noise);

  // The k nearest of residues [begin, end); rows of graph.
  void find_neighbours(Graph& graph, std::int64_t begin, std::int64_t end) const;

  // Distances between pairs of atoms of two residues, of which the first is left to the caller,
  // and 7 numbers of orientation for models of CA atoms only.
  int n_pairs() const { return ca_only_ ? 9 : 25; }
  int n_extra() const { return ca_only_ ? 7 : 0; }
  void pair_distances(std::int64_t i, std::int64_t j, float* out) const;
  void orientation(std::int64_t i, std::int64_t j, float* out) const;

  // What they are made of, for other devices: [n][n_points][3], of which point 1 is the CA atom,
  // and [n][9], axes of models of CA atoms only.
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
  std::vector<std::uint8_t> present_;
  std::vector<std::array<float, 9>> frames_;  // ca_only: rows are the axes at a residue
};

// Row of the table of relative positions: 0 to 64 within a chain, 65 between chains.
std::int32_t position_class(const Complex& complex, std::int64_t i, std::int64_t j);

}  // namespace biogpu::models::proteinmpnn
