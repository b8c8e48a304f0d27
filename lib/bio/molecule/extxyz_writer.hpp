#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/bio/molecule/molecule.hpp"

namespace biogpu::molecule {

// What was computed for a frame.
struct FrameResults {
  std::optional<double> energy;
  std::vector<double> forces;                   // [n, 3] or empty
  std::optional<std::array<double, 9>> stress;  // tension positive
  // Further pairs of the comment, behind the others: units, steps.
  std::vector<std::pair<std::string, std::string>> pairs;
};

// A frame as extxyz. Numbers have as many digits as are needed to read the same ones back, so that
// a run can go on from what it wrote. Pairs of molecule.info are written but for those in
// results.pairs, the results of an earlier calculation, and what belongs to velocities where there
// are none.
void append_extxyz(std::string& text, const Molecule& molecule, const FrameResults& results);

}  // namespace biogpu::molecule
