#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace biogpu::molecule {

// Atoms and bonds of a molecule as the numbers that chemprop 1.x makes of them (Yang et al. 2019,
// doi 10.1021/acs.jcim.9b00237). Hydrogen atoms are left out but for those that say something, as
// isotopes do.
struct MoleculeGraph {
  // One of 100 elements and another, 101; one of these and another: 0 to 5 neighbours, 7; charge
  // -1, -2, 1, 2, 0, 6; chirality 0 to 3, 5; 0 to 4 hydrogen atoms, 6; SP, SP2, SP3, SP3D, SP3D2,
  // 6; aromatic, 1; mass / 100, 1.
  static constexpr std::size_t kAtomFeatures = 133;
  // 0; single, double, triple, aromatic; conjugated; in a ring; stereochemistry 0 to 5 and another.
  static constexpr std::size_t kBondFeatures = 14;

  std::string name;                      // of the title; may be empty
  std::vector<double> positions;         // [n, 3], Angstrom
  std::vector<float> atom_features;      // [n, kAtomFeatures]
  std::vector<std::int32_t> bond_atoms;  // [m, 2], from 0, the lower first; rising
  std::vector<float> bond_features;      // [m, kBondFeatures]

  std::size_t n_atoms() const { return positions.size() / 3; }
  std::size_t n_bonds() const { return bond_atoms.size() / 2; }
};

enum class GraphFormat : std::uint8_t { sdf, mol2 };

// A molecule's part of a file, which may be any bytes.
struct MoleculeText {
  GraphFormat format = GraphFormat::sdf;
  std::string text;   // an SDF's up to M  END
  std::string place;  // "ligands.sdf: molecule 3", for errors
  std::string error;  // instead of text: why it cannot be read
};

// Whether this build can make graphs.
bool has_molecule_graphs();
// Throws Error{usage} where it cannot, or where the module with RDKit cannot be loaded. label: of
// the file, for the message.
void require_molecule_graphs(const std::string& label);

// Any thread. Throws Error{bad_input} with the place for text that is no molecule, one whose
// valences or rings RDKit refuses, one without atoms, or one without coordinates in space.
MoleculeGraph make_molecule_graph(const MoleculeText& molecule);

// What RDKit takes for granted: at least as many lines as the atoms and bonds that are announced,
// for which it makes room, and in MOL2 bonds between atoms that are there. Empty, or what is wrong.
std::string check_announced_size(const MoleculeText& molecule);

}  // namespace biogpu::molecule
