// The only file that sees RDKit; built as a module.
#include <GraphMol/FileParsers/FileParsers.h>
#include <GraphMol/GraphMol.h>
#include <RDGeneral/RDLog.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

#include "lib/bio/molecule/graph/rdkit_library.hpp"

using biogpu::molecule::GraphFormat;
using biogpu::molecule::MoleculeGraph;
using biogpu::molecule::RdkitLibrary;

namespace {

// Numbers of which one is 1: that of the value's place in the list, or the last.
template <std::size_t kChoices>
void append_choice(std::vector<float>& features, int value, const int (&choices)[kChoices]) {
  const auto chosen = std::find(choices, choices + kChoices, value) - choices;
  for (std::ptrdiff_t i = 0; i <= static_cast<std::ptrdiff_t>(kChoices); ++i)
    features.push_back(i == chosen ? 1.0f : 0.0f);
}

void append_element(std::vector<float>& features, int atomic_number) {
  constexpr int kElements = 100;
  const int chosen =
      atomic_number >= 1 && atomic_number <= kElements ? atomic_number - 1 : kElements;
  for (int i = 0; i <= kElements; ++i) features.push_back(i == chosen ? 1.0f : 0.0f);
}

void append_atom(const RDKit::Atom& atom, std::vector<float>& features) {
  using RDKit::Atom;
  append_element(features, atom.getAtomicNum());
  append_choice(features, static_cast<int>(atom.getTotalDegree()), {0, 1, 2, 3, 4, 5});
  append_choice(features, atom.getFormalCharge(), {-1, -2, 1, 2, 0});
  append_choice(features, atom.getChiralTag(), {0, 1, 2, 3});
  append_choice(features, static_cast<int>(atom.getTotalNumHs()), {0, 1, 2, 3, 4});
  append_choice(features, atom.getHybridization(),
                {Atom::SP, Atom::SP2, Atom::SP3, Atom::SP3D, Atom::SP3D2});
  features.push_back(atom.getIsAromatic() ? 1.0f : 0.0f);
  features.push_back(static_cast<float>(atom.getMass() * 0.01));
}

void append_bond(const RDKit::ROMol& molecule, const RDKit::Bond& bond,
                 std::vector<float>& features) {
  using RDKit::Bond;
  features.push_back(0);
  for (const Bond::BondType type : {Bond::SINGLE, Bond::DOUBLE, Bond::TRIPLE, Bond::AROMATIC})
    features.push_back(bond.getBondType() == type ? 1.0f : 0.0f);
  features.push_back(bond.getIsConjugated() ? 1.0f : 0.0f);
  features.push_back(molecule.getRingInfo()->numBondRings(bond.getIdx()) > 0 ? 1.0f : 0.0f);
  append_choice(features, bond.getStereo(), {0, 1, 2, 3, 4, 5});
}

std::vector<const RDKit::Bond*> sorted_bonds(const RDKit::ROMol& molecule) {
  std::vector<const RDKit::Bond*> bonds;
  for (const RDKit::Bond* const bond : molecule.bonds()) bonds.push_back(bond);
  const auto ends = [](const RDKit::Bond* bond) {
    return std::minmax({bond->getBeginAtomIdx(), bond->getEndAtomIdx()});
  };
  std::sort(bonds.begin(), bonds.end(),
            [&](const RDKit::Bond* a, const RDKit::Bond* b) { return ends(a) < ends(b); });
  return bonds;
}

void fill_graph(const RDKit::ROMol& molecule, const RDKit::Conformer& conformer,
                MoleculeGraph& graph) {
  molecule.getPropIfPresent(RDKit::common_properties::_Name, graph.name);
  for (const RDKit::Atom* const atom : molecule.atoms()) {
    append_atom(*atom, graph.atom_features);
    const RDGeom::Point3D& at = conformer.getAtomPos(atom->getIdx());
    graph.positions.insert(graph.positions.end(), {at.x, at.y, at.z});
  }
  for (const RDKit::Bond* const bond : sorted_bonds(molecule)) {
    append_bond(molecule, *bond, graph.bond_features);
    const auto [low, high] = std::minmax({bond->getBeginAtomIdx(), bond->getEndAtomIdx()});
    graph.bond_atoms.insert(graph.bond_atoms.end(),
                            {static_cast<std::int32_t>(low), static_cast<std::int32_t>(high)});
  }
}

bool make_graph(const std::string& text, GraphFormat format, MoleculeGraph& graph,
                std::string& why) {
  try {
    const std::unique_ptr<RDKit::RWMol> molecule(
        format == GraphFormat::mol2 ? RDKit::Mol2BlockToMol(text) : RDKit::MolBlockToMol(text));
    graph = {};
    if (!molecule || molecule->getNumAtoms() == 0) {
      why = "has no atoms";
    } else if (molecule->getNumConformers() == 0 || !molecule->getConformer().is3D()) {
      why = "has no coordinates in space; expected those of three dimensions";
    } else {
      fill_graph(*molecule, molecule->getConformer(), graph);
      return true;
    }
  } catch (const std::exception& error) {
    why = error.what();
  }
  return false;
}

}  // namespace

const RdkitLibrary* biogpu_rdkit_library() {
  // Messages about records go through `why`.
  boost::logging::disable_logs("rdApp.*");
  static constexpr RdkitLibrary kLibrary{RdkitLibrary::kInterface, make_graph};
  return &kLibrary;
}
