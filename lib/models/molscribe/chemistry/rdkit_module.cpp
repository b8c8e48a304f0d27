// The chemistry of a drawing with RDKit, in the steps of MolScribe, so that SMILES are the same
// byte for byte with the same version of RDKit: atoms and bonds, double bonds and centres from
// places and wedges, the molfile, then abbreviations and formulas.
#include <GraphMol/AtomIterators.h>
#include <GraphMol/ChemTransforms/ChemTransforms.h>
#include <GraphMol/Chirality.h>
#include <GraphMol/FileParsers/FileParsers.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/RWMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>
#include <RDGeneral/RDLog.h>
#include <RDGeneral/versions.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "lib/models/molscribe/chemistry/abbreviations.hpp"
#include "lib/models/molscribe/chemistry/chemistry_module.hpp"
#include "lib/models/molscribe/chemistry/formula.hpp"
#include "lib/models/molscribe/graph.hpp"

namespace biogpu::models::molscribe {
namespace {

using RDKit::Atom;
using RDKit::RWMol;
using Molecule = std::unique_ptr<RWMol>;

std::string without_brackets(const std::string& symbol) {
  if (symbol.empty() || symbol[0] != '[') return symbol;
  return symbol.size() < 2 ? "" : symbol.substr(1, symbol.size() - 2);
}

bool is_numbered(const std::string& residue) {
  return residue.size() > 1 && residue[0] == 'R' &&
         std::all_of(residue.begin() + 1, residue.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::unique_ptr<Atom> parse_atom(const std::string& symbol) {
  try {
    return std::unique_ptr<Atom>(RDKit::SmilesToAtom(symbol));
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::unique_ptr<Atom> make_atom(const std::string& symbol) {
  const std::string name = without_brackets(symbol);
  std::unique_ptr<Atom> atom;
  if (!is_residue(name) && !find_abbreviation(name)) atom = parse_atom(symbol);
  if (atom != nullptr) {
    atom->setChiralTag(Atom::CHI_UNSPECIFIED);
  } else {
    atom = std::make_unique<Atom>(0);
    if (is_residue(name) && is_numbered(name)) atom->setIsotope(std::stoi(name.substr(1)));
  }
  if (atom->getAtomicNum() == 0) RDKit::setAtomAlias(atom.get(), name);
  return atom;
}

void set_wedge(RWMol& mol, std::size_t i, std::size_t j, std::uint8_t bond) {
  if (bond != kSolidWedge && bond != kDashedWedge) return;
  mol.getBondBetweenAtoms(static_cast<unsigned>(i), static_cast<unsigned>(j))
      ->setBondDir(bond == kSolidWedge ? RDKit::Bond::BEGINWEDGE : RDKit::Bond::BEGINDASH);
}

Molecule make_molecule(const DrawnMolecule& drawn) {
  auto mol = std::make_unique<RWMol>();
  for (const std::string& symbol : drawn.symbols)
    mol->addAtom(make_atom(symbol).release(), true, true);
  const std::size_t n = drawn.symbols.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      const std::uint8_t bond = drawn.bonds[i * n + j];
      if (bond == kNoBond) continue;
      const auto type = bond == kDouble     ? RDKit::Bond::DOUBLE
                        : bond == kTriple   ? RDKit::Bond::TRIPLE
                        : bond == kAromatic ? RDKit::Bond::AROMATIC
                                            : RDKit::Bond::SINGLE;
      mol->addBond(static_cast<unsigned>(i), static_cast<unsigned>(j), type);
      set_wedge(*mol, i, j, bond);
    }
  return mol;
}

void set_places(RWMol& mol, const DrawnMolecule& drawn, bool is_3d) {
  auto conformer = std::make_unique<RDKit::Conformer>(mol.getNumAtoms());
  conformer->set3D(is_3d);
  for (unsigned i = 0; i < mol.getNumAtoms(); ++i)
    conformer->setAtomPos(i, {drawn.x[i], drawn.y[i], 0});
  mol.addConformer(conformer.release());
}

std::vector<unsigned> possible_centres(const RWMol& mol) {
  RWMol copy(mol);
  RDKit::MolOps::sanitizeMol(copy);
  std::vector<unsigned> centres;
  for (const auto& found : RDKit::Chirality::findPotentialStereo(copy, false))
    if (found.type == RDKit::Chirality::StereoType::Atom_Tetrahedral)
      centres.push_back(found.centeredOn);
  return centres;
}

// Bonds of a centre that are wedges begin there.
void begin_wedges(RWMol& mol, const DrawnMolecule& drawn, unsigned centre) {
  const std::size_t n = drawn.symbols.size();
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint8_t bond = drawn.bonds[centre * n + j];
    if (bond != kSolidWedge && bond != kDashedWedge) continue;
    mol.removeBond(centre, static_cast<unsigned>(j));
    mol.addBond(centre, static_cast<unsigned>(j), RDKit::Bond::SINGLE);
    set_wedge(mol, centre, j, bond);
  }
  RDKit::MolOps::assignChiralTypesFromBondDirs(mol);
  RDKit::MolOps::assignStereochemistry(mol, false, true);
}

// Changes the molecule as far as RDKit follows: where it refuses a step, what came before stays.
void assign_stereo(RWMol& mol, const DrawnMolecule& drawn) {
  try {
    const std::vector<unsigned> centres = possible_centres(mol);
    for (RDKit::Bond* bond : mol.bonds())
      if (bond->getBondType() == RDKit::Bond::SINGLE) bond->setBondDir(RDKit::Bond::NONE);
    // Double bonds are assigned from places in space alone, centres from a drawing alone.
    set_places(mol, drawn, true);
    RDKit::MolOps::sanitizeMol(mol);
    RDKit::MolOps::assignStereochemistryFrom3D(mol);
    mol.clearConformers();
    set_places(mol, drawn, false);
    RDKit::MolOps::sanitizeMol(mol);
    RDKit::MolOps::assignChiralTypesFromBondDirs(mol);
    RDKit::MolOps::assignStereochemistry(mol, false, true);
    for (const unsigned centre : centres) begin_wedges(mol, drawn, centre);
    for (Atom* atom : mol.atoms())
      if (atom->getAtomicNum() != 6) atom->setChiralTag(Atom::CHI_UNSPECIFIED);
  } catch (const std::exception&) {
  }
}

Molecule parse_group(const std::optional<std::string>& smiles) {
  if (!smiles || smiles->empty()) return nullptr;
  try {
    return Molecule(RDKit::SmilesToMol(*smiles));
  } catch (const std::exception&) {
    return nullptr;
  }
}

RDKit::Bond::BondType bond_type(int order) {
  switch (order) {
    case 1:
      return RDKit::Bond::SINGLE;
    case 2:
      return RDKit::Bond::DOUBLE;
    case 3:
      return RDKit::Bond::TRIPLE;
    default:
      throw std::runtime_error("a group with a bond that is not single, double or triple");
  }
}

// Puts a group in the place of an atom, which loses its bonds; whether it was read.
bool replace_by_group(Molecule& mol, unsigned atom, const std::string& alias) {
  std::vector<std::pair<unsigned, int>> neighbours;  // with the order of the bond
  double n_bonds = 0;
  for (const RDKit::Bond* bond : mol->atomBonds(mol->getAtomWithIdx(atom))) {
    neighbours.push_back(
        {bond->getOtherAtomIdx(atom), static_cast<int>(bond->getBondTypeAsDouble())});
    n_bonds += bond->getBondTypeAsDouble();
  }
  const Molecule group = parse_group(formula_smiles(alias, static_cast<int>(n_bonds)));
  if (group == nullptr) {
    mol->getAtomWithIdx(atom)->setIsotope(0);
    return false;
  }
  for (const auto& [other, order] : neighbours) mol->removeBond(atom, other);
  for (const auto& [other, order] : neighbours)
    mol->getAtomWithIdx(other)->setNumRadicalElectrons(static_cast<unsigned>(order));
  const unsigned first = mol->getNumAtoms();
  std::vector<unsigned> open{first};
  for (const Atom* of_group : group->atoms())
    if (of_group->getNumRadicalElectrons() > 0 && of_group->getIdx() > 0)
      open.push_back(first + of_group->getIdx());
  const std::unique_ptr<RDKit::ROMol> both(RDKit::combineMols(*mol, *group));
  mol = std::make_unique<RWMol>(*both);
  for (const auto& [other, order] : neighbours)
    mol->addBond(other, first,
                 bond_type(static_cast<int>(mol->getAtomWithIdx(other)->getNumRadicalElectrons())));
  for (const auto& [other, order] : neighbours)
    mol->getAtomWithIdx(other)->setNumRadicalElectrons(0);
  for (const unsigned of_group : open) mol->getAtomWithIdx(of_group)->setNumRadicalElectrons(0);
  return true;
}

std::string expanded_smiles(const RWMol& drawn) {
  bool has_alias = false;
  for (const Atom* atom : drawn.atoms()) has_alias |= !RDKit::getAtomAlias(atom).empty();
  if (!has_alias) return RDKit::MolToSmiles(drawn);
  auto mol = std::make_unique<RWMol>(drawn);
  for (Atom* atom : mol->atoms()) atom->setNumRadicalElectrons(0);
  std::vector<unsigned> replaced;
  const unsigned n = mol->getNumAtoms();
  for (unsigned i = 0; i < n; ++i) {
    const Atom* const atom = mol->getAtomWithIdx(i);
    const std::string alias = RDKit::getAtomAlias(atom);
    if (atom->getAtomicNum() != 0 || alias.empty() || is_residue(alias)) continue;
    if (replace_by_group(mol, i, alias)) replaced.push_back(i);
  }
  std::reverse(replaced.begin(), replaced.end());
  for (const unsigned atom : replaced) mol->removeAtom(atom);
  return RDKit::MolToSmiles(*mol);
}

// RDKit's exceptions have their text in several places; lines are joined.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.empty() ? "RDKit refuses the molecule" : text;
}

Chemistry convert(const DrawnMolecule& drawn) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static const bool is_quiet = [] {
    RDLog::InitLogs();
    boost::logging::disable_logs("rdApp.*");
    return true;
  }();
  (void)is_quiet;
  Chemistry chemistry;
  try {
    const Molecule mol = make_molecule(drawn);
    assign_stereo(*mol, drawn);
    std::string molfile = RDKit::MolToMolBlock(*mol);
    chemistry.smiles = expanded_smiles(*mol);
    chemistry.molfile = std::move(molfile);
  } catch (const std::exception& error) {
    chemistry.why = one_line(error.what());
  }
  return chemistry;
}

}  // namespace
}  // namespace biogpu::models::molscribe

const biogpu::models::molscribe::ChemistryModule* biogpu_chemistry() {
  using biogpu::models::molscribe::ChemistryModule;
  static const ChemistryModule kModule{ChemistryModule::kInterface, RDKit::rdkitVersion,
                                       biogpu::models::molscribe::convert};
  return &kModule;
}
