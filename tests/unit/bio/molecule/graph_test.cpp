#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lib/bio/molecule/graph/molecule_graph.hpp"
#include "lib/bio/molecule/graph/molecule_texts.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using molecule::MoleculeGraph;
using molecule::MoleculeText;
using molecule::MoleculeTexts;

namespace {

const std::string kFolder = std::string(BIOGPU_TEST_DATA) + "/molecules/";

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<MoleculeText> read_texts(const std::string& path) {
  MoleculeTexts reader(path);
  std::vector<MoleculeText> texts;
  for (MoleculeText text; reader.next(text);) texts.push_back(text);
  return texts;
}

std::vector<MoleculeText> read_texts(const std::string& name, const std::string& bytes) {
  const test::TempFolder folder;
  return read_texts(folder.file(name, bytes));
}

// What is wrong with a molecule; empty where it is none.
std::string error_of(const MoleculeText& text) {
  try {
    molecule::make_molecule_graph(text);
  } catch (const Error& error) {
    return error.code() == ErrorCode::bad_input ? error.what() : "another kind";
  }
  return {};
}
std::string error_of(const std::string& name, const std::string& bytes) {
  const std::string what = error_of(read_texts(name, bytes).at(0));
  return what.substr(std::min(what.size(), what.find(name)));
}

// The columns of ones; another number than 0 and 1 is an error.
std::string ones(const float* features, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    CHECK((features[i] == 0 || features[i] == 1));
    if (features[i] != 1) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(i);
  }
  return text;
}

// As scripts/reference/make_molecule_graphs.py writes them.
std::string as_lines(const MoleculeGraph& graph) {
  std::string text = "molecule\t" + graph.name + "\n";
  char line[200];
  for (std::size_t a = 0; a < graph.n_atoms(); ++a) {
    const float* const features = graph.atom_features.data() + a * MoleculeGraph::kAtomFeatures;
    const double* const at = graph.positions.data() + 3 * a;
    std::snprintf(line, sizeof(line), "\t%.6f\t%.4f\t%.4f\t%.4f\n",
                  static_cast<double>(features[MoleculeGraph::kAtomFeatures - 1]), at[0], at[1],
                  at[2]);
    text += "atom\t";
    text += ones(features, MoleculeGraph::kAtomFeatures - 1);
    text += line;
  }
  for (std::size_t b = 0; b < graph.n_bonds(); ++b) {
    std::snprintf(line, sizeof(line), "bond\t%d\t%d\t", static_cast<int>(graph.bond_atoms[2 * b]),
                  static_cast<int>(graph.bond_atoms[2 * b + 1]));
    text += line;
    text += ones(graph.bond_features.data() + b * MoleculeGraph::kBondFeatures,
                 MoleculeGraph::kBondFeatures);
    text += '\n';
  }
  return text;
}

// The same of a file, with masses of as many digits.
std::string expected_lines(const std::string& path) {
  std::istringstream file(slurp(path));
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("atom\t")) {
      const std::size_t begin = line.find('\t', 5) + 1, end = line.find('\t', begin);
      char mass[50];
      std::snprintf(mass, sizeof(mass), "%.6f", std::atof(line.substr(begin, end - begin).c_str()));
      line.replace(begin, end - begin, mass);
    }
    text += line + "\n";
  }
  return text;
}

const std::string kMethanol =
    "methanol\n  program           3D\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n"
    "    0.0000    1.5000   -0.2500 C   0  0\n    1.0100    0.0000    0.0000 O   0  0\n"
    "  1  2  1  0\nM  END\n";

}  // namespace

TEST_CASE("molecule.graph: features of RDKit's Python package and chemprop", "[molecule]") {
  if (!molecule::has_molecule_graphs()) return;
  for (const std::string name : {"graphs.sdf", "graphs_v3000.sdf", "graphs.mol2"}) {
    CAPTURE(name);
    std::string got;
    std::uint64_t number = 0;
    for (const MoleculeText& text : read_texts(kFolder + name)) {
      CHECK(text.place.ends_with(name + ": molecule " + std::to_string(++number)));
      got += as_lines(molecule::make_molecule_graph(text));
    }
    const std::string stem =
        name == "graphs.mol2" ? "graphs_mol2" : name.substr(0, name.size() - 4);
    CHECK(got == expected_lines(kFolder + stem + ".tsv"));
  }
}

TEST_CASE("molecule.texts: records of SDF", "[molecule]") {
  const auto texts =
      read_texts("a.SDF", "\xEF\xBB\xBF" + kMethanol + "> <key>\nM  END\n\n$$$$\r\n" + kMethanol +
                              "$$$$\n$$$$\n" + kMethanol + "\n\n");
  REQUIRE(texts.size() == 4);
  CHECK(texts[0].text == kMethanol);
  CHECK(texts[1].text == kMethanol);
  CHECK(texts[2].text.empty());
  CHECK(texts[3].text == kMethanol);
  CHECK(read_texts("blank.sdf", kMethanol + "$$$$\n \n\n").size() == 1);
  CHECK(read_texts("none.sdf", "").empty());
  CHECK(read_texts("none.mol", "\n\n").empty());
}

TEST_CASE("molecule.texts: records of MOL2", "[molecule]") {
  const std::string one = "@<TRIPOS>MOLECULE\none\n";
  const auto texts = read_texts("a.mol2", "# text\n\n" + one + "@<TRIPOS>ATOM\n" + one);
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].text == one + "@<TRIPOS>ATOM\n");
  CHECK(texts[1].text == one);
  const auto bad = read_texts("b.mol2", "words\nmore\n" + one);
  REQUIRE(bad.size() == 2);
  CHECK(bad[0].error == "line 1 is none of MOL2; expected @<TRIPOS>MOLECULE");
  CHECK(bad[1].text == one);
}

TEST_CASE("molecule.texts: another suffix is refused", "[molecule]") {
  const test::TempFolder folder;
  const std::string path = folder.file("a.smi", "CO\n");
  CHECK_THROWS_WITH(
      MoleculeTexts(path),
      path + ": no format by its suffix; expected .sdf, .sd, .mol or .mol2, perhaps .gz");
}

TEST_CASE("molecule.texts: a molecule that is too large does not end the file", "[molecule]") {
  const std::string line(79, 'x');
  std::string bytes = "title\n";
  while (bytes.size() <= MoleculeTexts::kMaxBytes) bytes += line + "\n";
  const auto texts = read_texts("a.sdf", bytes + "$$$$\n" + kMethanol);
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].error == "has more than 16 MiB");
  CHECK(texts[1].text == kMethanol);
}

TEST_CASE("molecule.graph: molecules that are refused", "[molecule]") {
  if (!molecule::has_molecule_graphs()) return;
  CHECK(error_of("a.sdf", kMethanol).empty());
  std::string flat = kMethanol;
  flat.replace(flat.find("3D"), 2, "2D");
  flat.replace(flat.find("-0.2500"), 7, " 0.0000");
  CHECK(error_of("a.sdf", flat) ==
        "a.sdf: molecule 1: has no coordinates in space; expected those of three dimensions");
  CHECK(error_of("a.sdf", "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n") ==
        "a.sdf: molecule 1: has no atoms");
  std::string valence = kMethanol;
  valence[valence.find("C   0")] = 'F';
  valence.replace(valence.find("  1  2  1"), 9, "  1  2  3");
  CHECK(error_of("a.sdf", valence).find("valence") != std::string::npos);
  CHECK_FALSE(error_of("a.sdf", "words\n").empty());
  CHECK_FALSE(error_of("a.sdf", "$$$$\n").empty());
  CHECK_FALSE(error_of("a.mol2", "@<TRIPOS>MOLECULE\nx\n1 0\n@<TRIPOS>ATOM\n").empty());
  const std::string v3000 =
      "t\n  program           3D\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\n"
      "M  V30 COUNTS 1000000000 0 0 0 0\nM  V30 BEGIN ATOM\n";
  CHECK(error_of("a.sdf", v3000) ==
        "a.sdf: molecule 1: 'M  V30 COUNTS 1000000000 0 0 0 0' announces more atoms or bonds than "
        "the molecule has lines");
  CHECK(
      error_of("a.mol2", "@<TRIPOS>MOLECULE\nx\n99999999 1\n@<TRIPOS>ATOM\n") ==
      "a.mol2: molecule 1: '99999999 1' announces more atoms or bonds than the molecule has lines");

  const std::string mol2 = slurp(kFolder + "graphs.mol2");
  const auto mol2_error = [&](const std::string& from, const std::string& to) {
    std::string bad = mol2;
    REQUIRE(bad.find(from) != std::string::npos);
    return error_of("a.mol2", bad.replace(bad.find(from), from.size(), to));
  };
  CHECK(error_of("a.mol2", mol2).empty());
  CHECK(mol2_error("1 1 2 ar", "1 1 -12 ar") ==
        "a.mol2: molecule 1: '1 1 -12 ar' is not bond 1 of 9");
  CHECK_FALSE(mol2_error("9 7 9 ar", "9 7 10 ar").empty());
  CHECK_FALSE(mol2_error("9 7 9 ar\n", "").empty());
  CHECK_FALSE(mol2_error("2 C2 ", "3 C2 ").empty());
  CHECK_FALSE(mol2_error("1.2040 0.6950", "nan 0.6950").empty());
  CHECK_FALSE(mol2_error("@<TRIPOS>ATOM", "@<TRIPOS>ATOMS").empty());
}
