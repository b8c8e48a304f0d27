#include <algorithm>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/molscribe/chemistry/atom_symbol.hpp"
#include "lib/models/molscribe/chemistry/drawing_text.hpp"
#include "lib/models/molscribe/chemistry/formula.hpp"
#include "lib/models/molscribe/chemistry/rdkit.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu::models::molscribe;

namespace {

struct BondOf {
  std::size_t i, j;
  Bond kind;
};

MoleculeGraph make_graph(const std::vector<std::string>& symbols,
                         const std::vector<BondOf>& bonds) {
  MoleculeGraph graph;
  const std::size_t n = symbols.size();
  for (std::size_t i = 0; i < n; ++i)
    graph.atoms.push_back({symbols[i], static_cast<double>(i) / 4, 0.25, 1, 0});
  graph.bonds.assign(n * n, kNoBond);
  for (const BondOf& bond : bonds) graph.bonds[bond.i * n + bond.j] = bond.kind;
  return graph;
}

std::string smiles_of(const std::vector<std::string>& symbols, const std::vector<BondOf>& bonds) {
  return graph_smiles(make_graph(symbols, bonds));
}

// Without the lines that name the molecule and the program.
std::string body_of(const std::string& molfile) {
  std::size_t at = 0;
  for (int i = 0; i < 2 && at != molfile.npos; ++i) at = molfile.find('\n', at) + 1;
  return molfile.substr(std::min(at, molfile.size()));
}

}  // namespace

TEST_CASE("models.molscribe: symbols of atoms, residues and abbreviations") {
  const auto smiles = [](const char* symbol) { return read_symbol(symbol).smiles; };
  CHECK(smiles("C") == "C");
  CHECK(smiles("n") == "n");
  CHECK(smiles("[nH]") == "[nH]");
  CHECK(smiles("[C@@H]") == "[CH]");
  CHECK(smiles("[13CH3-]") == "[13CH3-]");
  CHECK(smiles("[N++]") == "[N+2]");
  CHECK(smiles("[R12]") == "[12*]");
  CHECK(smiles("[Ph]") == "*");
  CHECK(smiles("[") == "*");
  CHECK(smiles("[C") == "*");
  CHECK(smiles("Q") == "*");
  CHECK(read_symbol("[Ph]").alias == "Ph");
  CHECK(read_symbol("[Rb]").alias == "Rb");  // a residue, not rubidium
  CHECK(read_symbol("[se]").element == "Se");
  CHECK(read_symbol("[Fe+2]").charge == 2);
  CHECK(read_symbol("[O-]").alias.empty());
}

TEST_CASE("models.molscribe: SMILES of drawings") {
  CHECK(smiles_of({}, {}) == "");
  CHECK(smiles_of({"C", "C", "O"}, {{0, 1, kSingle}, {1, 2, kDouble}}) == "CC=O");
  CHECK(smiles_of({"C", "N"}, {}) == "C.N");
  CHECK(smiles_of({"C", "F", "Cl", "[R1]"},
                  {{0, 1, kSolidWedge}, {0, 2, kTriple}, {0, 3, kSingle}}) == "C(F)(#Cl)[1*]");
  std::vector<BondOf> ring;
  for (std::size_t i = 0; i < 6; ++i)
    ring.push_back({std::min(i, (i + 1) % 6), std::max(i, (i + 1) % 6), kAromatic});
  CHECK(smiles_of({"c", "c", "c", "c", "c", "c"}, ring) == "c1ccccc1");
  CHECK(smiles_of({"C", "c", "c", "c", "c", "c"}, ring) == "C:1:ccccc1");
  ring.push_back({0, 6, kSingle});
  CHECK(smiles_of({"c", "c", "c", "c", "c", "c", "n"}, ring) == "c1(ccccc1)-n");
  // Every pair of five atoms is bound: six rings.
  std::vector<BondOf> all;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = i + 1; j < 5; ++j) all.push_back({i, j, kSingle});
  CHECK(smiles_of({"C", "C", "C", "C", "C"}, all) == "C123C45C16C24C356");
}

TEST_CASE("models.molscribe: molfiles of drawings") {
  const MoleculeGraph graph =
      make_graph({"C", "[NH3+]", "[R2]", "[Ph]"},
                 {{0, 1, kSolidWedge}, {0, 2, kDashedWedge}, {0, 3, kDouble}});
  const std::string molfile = graph_molfile(graph, 2, "a name");
  CHECK(molfile.starts_with("a name\n"));
  CHECK(body_of(molfile) ==
        "\n  4  3  0  0  0  0  0  0  0  0999 V2000\n"
        "    0.0000   -1.5000    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0\n"
        "    5.0000   -1.5000    0.0000 N   0  0  0  0  0  0  0  0  0  0  0  0\n"
        "   10.0000   -1.5000    0.0000 *   0  0  0  0  0  0  0  0  0  0  0  0\n"
        "   15.0000   -1.5000    0.0000 *   0  0  0  0  0  0  0  0  0  0  0  0\n"
        "  1  2  1  1\n  1  3  1  6\n  1  4  2  0\n"
        "A    3\nR2\nA    4\nPh\n"
        "M  CHG  1   2   1\nM  ISO  1   3   2\nM  END\n");
  CHECK(graph_molfile(make_graph(std::vector<std::string>(1000, "C"), {}), 1, "").empty());
}

TEST_CASE("models.molscribe: formulas from the left and from the right") {
  const auto smiles = [](const char* formula, int n_bonds = 1) {
    return formula_smiles(formula, n_bonds).value_or("none");
  };
  CHECK(smiles("Ph") == "[c]1ccccc1");
  CHECK(smiles("OH") == "[O][H]");
  CHECK(smiles("NH2") == "[N]([H])[H]");
  CHECK(smiles("H2N") == "[N]([H])[H]");
  CHECK(smiles("C123456789012345678901") == "none");
  CHECK(smiles("~~").empty());
}

TEST_CASE("models.molscribe: RDKit's SMILES and molfiles are the original's") {
  std::string why;
  if (rdkit_version(&why).empty()) {
    WARN("skipped: " << why);
    return;
  }
  const auto graphs = nlohmann::json::parse(
      std::ifstream(BIOGPU_TEST_DATA "/models/molscribe_chemistry/graphs.json"));
  REQUIRE(graphs.size() > 200);
  for (const auto& right : graphs) {
    MoleculeGraph graph;
    const auto symbols = right.at("symbols").get<std::vector<std::string>>();
    CAPTURE(symbols);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      graph.atoms.push_back({symbols[i], right["coords"][i][0], right["coords"][i][1], 1, 0});
      for (const auto& bond : right["edges"][i]) graph.bonds.push_back(bond);
    }
    const Chemistry chemistry = rdkit_chemistry(graph, right.at("aspect"));
    const std::string smiles = right.at("smiles");
    CHECK((chemistry.why.empty() ? chemistry.smiles : "<invalid>") == smiles);
    CHECK(body_of(chemistry.molfile) == right.at("molfile").get<std::string>());
  }
}
