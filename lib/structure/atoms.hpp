#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace biogpu::structure {

// All atoms of a model of a PDB file, ligands, ions and water too.
struct AtomModel {
  std::vector<std::int32_t> atomic_numbers;  // [n]; 0 where neither element nor name tells it
  std::vector<double> positions;             // [n, 3], Angstrom
  std::vector<std::string> names;            // [n], "HOH 12 O", for messages
  std::optional<std::int32_t> charge;        // sum of those in columns 79-80, where any is there
};

struct AtomFile {
  std::vector<AtomModel> models;
  // Rows a, b, c in Angstrom, of CRYST1 with the space group P 1: of another one the file holds a
  // part of the cell's atoms only. The 1 x 1 x 1 of files without a cell is none.
  std::optional<std::array<double, 9>> box;
};

// Reads PDB, plain or gzip. Where an atom has several locations the first counts. Errors: those of
// read_structure(); a file without atoms has no models.
AtomFile read_atoms(const std::string& path);

}  // namespace biogpu::structure
