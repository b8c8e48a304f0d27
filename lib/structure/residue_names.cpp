#include "lib/structure/residue_names.hpp"

#include <algorithm>
#include <array>

namespace biogpu::structure {
namespace {

struct Parent {
  char letter;
  std::string_view standard;
  // Amber, CHARMM and OPLS names of a protonation or bonding state; blanks between names.
  std::string_view states;
  // Modified residues of the PDB's chemical component dictionary, L and D, with this parent.
  std::string_view modified;
};

// Left out on purpose: names whose parent is disputed (PCA: glutamine or glutamate; ORN), mixtures
// (ASX, GLX), and fluorophores made of several residues (CRO, CR2, NRQ).
constexpr std::array<Parent, 20> kParents{{
    {'A', "ALA", "", "DAL ABA AIB MAA B3A"},
    {'R', "ARG", "ARN AR0", "DAR AGM CIR 2MR HAR"},
    {'N', "ASN", "", "DSG MEN SNN"},
    {'D', "ASP", "ASH", "DAS BFD PHD IAS B3D"},
    {'C', "CYS", "CYX CYM CYD", "DCY CSO CSD CSX CME OCS CSS CAS CAF YCM SMC SNC SCY SCH CSP SEC"},
    {'Q', "GLN", "", "DGN MEQ MGN"},
    {'E', "GLU", "GLH", "DGL CGU B3E"},
    {'G', "GLY", "", "SAR GL3"},
    {'H', "HIS", "HID HIE HIP HSD HSE HSP", "DHI HIC MHS NEP HSK"},
    {'I', "ILE", "", "DIL"},
    {'L', "LEU", "", "DLE NLE MLE"},
    {'K', "LYS", "LYN", "DLY MLY MLZ M3L ALY KCX LLP PYL KPI B3K"},
    {'M', "MET", "", "MED MSE FME MHO SME OMT CXM"},
    {'F', "PHE", "", "DPN PHI MEA"},
    {'P', "PRO", "", "DPR HYP HY3 HZP"},
    {'S', "SER", "", "DSN SEP SAC OAS"},
    {'T', "THR", "", "DTH TPO"},
    {'W', "TRP", "", "DTR TRQ TOX 0AF KYN"},
    {'Y', "TYR", "TYM", "DTY PTR TYS TPQ 4BF OMY IYR B3Y"},
    {'V', "VAL", "", "DVA MVA FVA"},
}};

// names: words of three characters with a blank between each two.
bool has_name(std::string_view names, std::string_view name) {
  for (std::size_t at = 0; at + name.size() <= names.size(); at += name.size() + 1)
    if (names.substr(at, name.size()) == name) return true;
  return false;
}

}  // namespace

char residue_letter(std::string_view name) {
  if (name.size() != 3) return 0;
  for (const Parent& parent : kParents)
    if (name == parent.standard || has_name(parent.states, name) || has_name(parent.modified, name))
      return parent.letter;
  return 0;
}

bool is_standard_residue(std::string_view name) {
  return std::any_of(kParents.begin(), kParents.end(),
                     [&](const Parent& parent) { return parent.standard == name; });
}

}  // namespace biogpu::structure
