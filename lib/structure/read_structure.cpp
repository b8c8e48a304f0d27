// The files named read_* alone see gemmi, whose headers take long to compile.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gemmi/model.hpp>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/structure/read_parsed.hpp"
#include "lib/structure/residue_names.hpp"
#include "lib/structure/structure.hpp"
#include "lib/structure/structure_text.hpp"

namespace biogpu::structure {
namespace {

// Numbers that a structure's chains may leave out between their residues: each costs as much as a
// residue. As many as a chain of PDB's four digits hardly has, or several for each residue read.
constexpr std::int64_t kMaxMissing = 5000;
constexpr std::int64_t kMaxMissingPerResidue = 4;
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

struct BackboneResidue {
  char letter = 'X';
  std::array<float, kBackboneAtoms * 3> backbone{};
  std::array<bool, kBackboneAtoms> has{};
};
using Residues = std::map<int, std::map<char, BackboneResidue>>;  // by number, then insertion code

bool has_atoms(const gemmi::Residue& residue, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return residue.find_atom(name, '*') != nullptr; });
}

// Whether a residue belongs to a chain: ATOM records do, and of HETATM records modified residues
// that are no ligands. The original takes MSE wherever it stands.
bool is_of_chain(const gemmi::Residue& residue) {
  if (residue.het_flag != 'H' || residue.name == "MSE") return true;
  const bool is_ligand = residue.entity_type == gemmi::EntityType::NonPolymer ||
                         residue.entity_type == gemmi::EntityType::Branched ||
                         residue.entity_type == gemmi::EntityType::Water;
  return !is_ligand && !is_standard_residue(residue.name) && residue_letter(residue.name) != 0;
}

void add_residue(const gemmi::Residue& from, Residues& residues, Structure& structure) {
  if (!is_of_chain(from)) {
    if (from.entity_type != gemmi::EntityType::NonPolymer && has_atoms(from, {"N", "CA", "C", "O"}))
      structure.left_out.insert(from.name);
    return;
  }
  auto& at_number = residues[from.seqid.num.value];
  const auto [place, is_new] = at_number.try_emplace(from.seqid.icode);
  BackboneResidue& to = place->second;
  if (is_new) {
    const char letter = residue_letter(from.name);
    to.letter = letter == 0 ? 'X' : letter;
    if (letter == 0 && from.name != "UNK") structure.unknown.insert(from.name);
  }
  static constexpr std::array<std::string_view, kBackboneAtoms> kNames{"N", "CA", "C", "O"};
  for (const gemmi::Atom& atom : from.atoms) {
    const auto name = std::find(kNames.begin(), kNames.end(), atom.name);
    if (name == kNames.end()) continue;
    const auto a = static_cast<std::size_t>(name - kNames.begin());
    if (to.has[a]) continue;
    to.has[a] = true;
    to.backbone[3 * a] = static_cast<float>(atom.pos.x);
    to.backbone[3 * a + 1] = static_cast<float>(atom.pos.y);
    to.backbone[3 * a + 2] = static_cast<float>(atom.pos.z);
  }
}

void add_missing(Chain& chain, std::int64_t number) {
  chain.sequence += 'X';
  chain.backbone.emplace_back().fill(kMissing);
  chain.labels.push_back(std::to_string(number));
}

Chain make_chain(const std::string& name, const Residues& residues) {
  Chain chain;
  chain.name = name;
  std::int64_t expected = residues.begin()->first;  // past the highest number, too
  for (const auto& [number, by_code] : residues) {
    for (; expected < number; ++expected) add_missing(chain, expected);
    expected = std::int64_t{number} + 1;
    for (const auto& [code, residue] : by_code) {
      chain.sequence += residue.letter;
      auto& backbone = chain.backbone.emplace_back();
      for (std::size_t a = 0; a < kBackboneAtoms; ++a)
        for (std::size_t d = 0; d < 3; ++d)
          backbone[3 * a + d] = residue.has[a] ? residue.backbone[3 * a + d] : kMissing;
      chain.labels.push_back(std::to_string(number) + (code == ' ' ? "" : std::string(1, code)));
    }
  }
  return chain;
}

// Before any of them is given room.
void check_missing(const std::string& path, const std::map<std::string, Residues>& chains) {
  std::int64_t n_read = 0, n_missing = 0, longest = 0;
  std::string where;
  for (const auto& [name, residues] : chains) {
    const int* before = nullptr;
    for (const auto& [number, by_code] : residues) {
      n_read += static_cast<std::int64_t>(by_code.size());
      const std::int64_t run = before == nullptr ? 0 : std::int64_t{number} - *before - 1;
      n_missing += run;
      if (run > longest)
        where = fmt::format("chain {}: residues {} to {}", shortened(name), *before, number);
      longest = std::max(longest, run);
      before = &number;
    }
  }
  const std::int64_t allowed = std::max(kMaxMissing, kMaxMissingPerResidue * n_read);
  if (n_missing > allowed)
    fail(path, fmt::format("{}: {} numbers are left out between them, {} in all; expected at most "
                           "{} for {} residues",
                           where, longest, n_missing, allowed, n_read));
}

bool has_backbone(const Structure& structure, bool ca_only) {
  for (const Chain& chain : structure.chains)
    for (const auto& atoms : chain.backbone)
      if (ca_only ? !std::isnan(atoms[3])
                  : std::none_of(atoms.begin(), atoms.end(), [](float x) { return std::isnan(x); }))
        return true;
  return false;
}

void check_residue(const std::string& path, const std::string& chain,
                   const gemmi::Residue& residue) {
  const std::string label = shortened(chain);
  if (!residue.seqid.num) fail(path, "chain " + label + ": a residue has no number");
  for (const gemmi::Atom& atom : residue.atoms)
    for (const double x : {atom.pos.x, atom.pos.y, atom.pos.z})
      if (!(std::abs(x) <= kMaxCoordinate))
        fail(path, fmt::format("chain {}: residue {}: a coordinate of {} is {}", label,
                               residue.seqid.str(), shortened(atom.name),
                               std::isfinite(x) ? fmt::format("{}; expected a number from -1000000 "
                                                              "to 1000000",
                                                              x)
                                                : std::string("no number")));
}

std::string name_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

}  // namespace

Structure read_structure(const std::string& path, bool ca_only) {
  std::string text = read_structure_text(path);
  const gemmi::Structure parsed = read_parsed(path, text);
  Structure structure;
  structure.name = name_of(path);
  std::map<std::string, Residues> chains;
  for (const gemmi::Model& model : parsed.models)
    for (const gemmi::Chain& chain : model.chains)
      for (const gemmi::Residue& residue : chain.residues) {
        check_residue(path, chain.name, residue);
        add_residue(residue, chains[chain.name], structure);
      }
  check_missing(path, chains);
  for (const auto& [name, residues] : chains)
    if (!residues.empty()) structure.chains.push_back(make_chain(name, residues));
  if (!has_backbone(structure, ca_only))
    fail(path, ca_only ? "holds no CA atom of a protein; expected ATOM records"
                       : "holds no residue with the backbone atoms N, CA, C and O");
  return structure;
}

}  // namespace biogpu::structure
