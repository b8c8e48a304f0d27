#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace biogpu::structure {

// All atoms of a model of a PDB file, ligands, ions and water too.
struct AtomModel {
  // [n]; D is deuterium, empty where neither columns 77-78 nor the name tell an element.
  std::vector<std::string> symbols;
  std::vector<double> positions;       // [n, 3], Angstrom
  std::vector<std::string> names;      // [n], "HOH 12 O", for messages
  std::optional<std::int32_t> charge;  // sum of those in columns 79-80, where any is there
  // Rows a, b, c in Angstrom, of the last CRYST1 before the model, with the space group P 1. The
  // 1 x 1 x 1 and 0 x 0 x 0 of files without a cell are none.
  std::optional<std::array<double, 9>> box;
  // The space group of a CRYST1 that is not P 1: the file has only some atoms of its cell.
  std::string other_space_group;
};

// Reads PDB, plain or gzip. Models end at ENDMDL and at END, which separates the frames of
// trajectories. Where an atom has several locations the first counts. Errors: those of
// read_structure(), and text without an atom; an empty file has no models.
std::vector<AtomModel> read_atoms(const std::string& path);

}  // namespace biogpu::structure
