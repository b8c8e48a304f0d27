#include "lib/structure/residues.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"
#include "tests/unit/structure/as_mmcif.hpp"
#include "tests/unit/structure/slurp.hpp"

using namespace biogpu;

namespace {

const std::string kFolder = std::string(BIOGPU_TEST_DATA) + "/molecules/";

// As scripts/reference/make_residues.py writes them.
std::string as_lines(const std::vector<structure::Residue>& residues) {
  std::string text;
  for (const structure::Residue& residue : residues) {
    for (const structure::ResidueAtom& atom : residue.atoms) {
      char line[100];
      std::snprintf(line, sizeof(line), "%s\t%s\t%.3f\t%.3f\t%.3f\n", residue.name.c_str(),
                    atom.name.c_str(), atom.position[0], atom.position[1], atom.position[2]);
      text += line;
    }
    text += "end\n";
  }
  return text;
}

std::string residues_error(const std::string& path) {
  try {
    structure::read_residues(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("structure.read_residues: disorder as Biopython resolves it", "[structure]") {
  const auto residues = structure::read_residues(kFolder + "disorder.pdb");
  CHECK(as_lines(residues) == test::slurp(kFolder + "disorder.tsv"));
  REQUIRE(residues.size() == 12);
  CHECK(residues[0].label == "B:1");
  CHECK(residues[3].label == "B:2A");
}

TEST_CASE("structure.read_residues: mmCIF with its occupancies gives the same", "[structure]") {
  const test::Folder folder;
  const std::string path =
      folder.write("disorder.cif", test::as_mmcif(test::slurp(kFolder + "disorder.pdb")));
  CHECK(as_lines(structure::read_residues(path)) == test::slurp(kFolder + "disorder.tsv"));
}

TEST_CASE("structure.read_residues: refused are several models and water alone", "[structure]") {
  const test::Folder folder;
  const std::string atom = "ATOM      1  CA  GLY A   1       1.000   2.000   3.000  1.00  0.00\n";
  const std::string models = folder.write(
      "two.pdb", "MODEL        1\n" + atom + "ENDMDL\nMODEL        2\n" + atom + "ENDMDL\n");
  CHECK(residues_error(models) == models + ": has 2 models; expected one");
  std::string water = atom;
  water.replace(17, 3, "HOH");
  const std::string wet = folder.write("wet.pdb", water);
  CHECK(residues_error(wet) == wet + ": holds no residue but water");
  std::string far = atom;
  far.replace(30, 8, " 1.0e+07");
  CHECK(residues_error(folder.write("far.pdb", far)).find("residue A:1: a coordinate of CA is") !=
        std::string::npos);
}
