#include "lib/tasks/image/recognize.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/io/table_fields.hpp"
#include "lib/models/molscribe/chemistry/abbreviations.hpp"
#include "lib/models/molscribe/chemistry/atom_symbol.hpp"
#include "lib/models/molscribe/chemistry/drawing_text.hpp"
#include "lib/models/molscribe/chemistry/rdkit.hpp"

namespace biogpu::tasks {
namespace {

using models::molscribe::AtomSymbol;
using models::molscribe::GraphAtom;
using models::molscribe::MoleculeGraph;

constexpr std::array<const char*, models::molscribe::kBondKinds> kBondNames{
    "", "single", "double", "triple", "aromatic", "solid wedge", "dashed wedge"};

// SMILES of what RDKit refuses, as the original writes it.
constexpr char kInvalid[] = "<invalid>";

bool has_alias(const MoleculeGraph& graph) {
  for (const GraphAtom& atom : graph.atoms) {
    const AtomSymbol symbol = models::molscribe::read_symbol(atom.symbol);
    if (!symbol.alias.empty() && symbol.alias != "*" &&
        !models::molscribe::is_residue(symbol.alias))
      return true;
  }
  return false;
}

std::string status_of(const Recognized& recognized, bool with_rdkit) {
  std::string status;
  const auto add = [&](bool holds, const char* what) {
    if (!holds) return;
    if (!status.empty()) status += ',';
    status += what;
  };
  const bool has_atoms = !recognized.graph.atoms.empty();
  const bool is_invalid = recognized.smiles == kInvalid;
  add(recognized.graph.is_cut, "cut-short");
  add(!has_atoms, "no-atoms");
  add(is_invalid, "invalid");
  add(has_atoms && !is_invalid && recognized.molfile.empty(), "no-molfile");
  add(!with_rdkit && has_alias(recognized.graph), "unexpanded");
  return status.empty() ? "ok" : status;
}

}  // namespace

Recognized make_recognized(std::string key, const models::molscribe::PreparedImage& image,
                           MoleculeGraph graph, bool with_rdkit) {
  Recognized recognized;
  recognized.key = std::move(key);
  recognized.graph = std::move(graph);
  const double aspect = static_cast<double>(image.width) / image.height;
  if (with_rdkit) {
    models::molscribe::Chemistry chemistry =
        models::molscribe::rdkit_chemistry(recognized.graph, aspect);
    recognized.smiles = chemistry.why.empty() ? std::move(chemistry.smiles) : kInvalid;
    recognized.molfile = std::move(chemistry.molfile);
  } else {
    recognized.smiles = models::molscribe::graph_smiles(recognized.graph);
    recognized.molfile =
        models::molscribe::graph_molfile(recognized.graph, aspect, io::as_field(recognized.key));
  }
  recognized.status = status_of(recognized, with_rdkit);
  return recognized;
}

std::string recognition_header() { return "image\tsmiles\tconfidence\tn_atoms\tn_bonds\tstatus\n"; }

void append_recognition_line(std::string& text, const Recognized& recognized) {
  const MoleculeGraph& graph = recognized.graph;
  text +=
      fmt::format("{}\t{}\t{:.6g}\t{}\t{}\t{}\n", io::as_field(recognized.key), recognized.smiles,
                  graph.confidence, graph.atoms.size(), graph.n_bonds(), recognized.status);
}

void append_recognition_json(std::string& text, const Recognized& recognized) {
  using Json = nlohmann::ordered_json;
  const MoleculeGraph& graph = recognized.graph;
  Json atoms = Json::array(), bonds = Json::array();
  for (const GraphAtom& atom : graph.atoms)
    atoms.push_back({{"atom_symbol", atom.symbol},
                     {"x", atom.x},
                     {"y", atom.y},
                     {"confidence", atom.confidence}});
  for (std::size_t i = 0; i < graph.atoms.size(); ++i)
    for (std::size_t j = i + 1; j < graph.atoms.size(); ++j)
      if (graph.bond(i, j) != models::molscribe::kNoBond)
        bonds.push_back({{"bond_type", kBondNames[graph.bond(i, j)]},
                         {"endpoint_atoms", {i, j}},
                         {"confidence", graph.bond_confidence(i, j)}});
  const Json line = {{"image", recognized.key},
                     {"smiles", recognized.smiles},
                     {"molfile", recognized.molfile},
                     {"confidence", graph.confidence},
                     {"status", recognized.status},
                     {"tokens", graph.tokens},
                     {"least_margin", graph.least_margin},
                     {"atoms", std::move(atoms)},
                     {"bonds", std::move(bonds)}};
  text += line.dump(-1, ' ', false, Json::error_handler_t::replace);
  text += '\n';
}

}  // namespace biogpu::tasks
