#include "tests/support/catch.hpp"
#include "tests/unit/bio/molecule/molecules.hpp"

using namespace biogpu;
using molecule::Molecule;
using test::molecule_error;
using test::read_molecules;

namespace {

const std::string kBox = "CRYST1   10.000   12.000   14.000  90.00  90.00 120.00 P 1           1\n";
const std::string kPdbAtoms =
    "ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00  0.00           C  \n"
    "ATOM      2  HB1AALA A   1       2.000   2.000   3.000  0.50  0.00           H  \n"
    "ATOM      3  HB1BALA A   1       2.100   2.000   3.000  0.50  0.00           H  \n"
    "HETATM    4 CA    CA A   2      -1.000   2.000   3.000  1.00  0.00          CA2+\n"
    "HETATM    5  CL   CL A   3      -3.000   2.000   3.000  1.00  0.00          CL1-\n";

}  // namespace

TEST_CASE("molecule.pdb: elements, charges, locations, models, box", "[molecule]") {
  const std::vector<Molecule> all =
      read_molecules("a.pdb", kBox + "MODEL        1\n" + kPdbAtoms + "ENDMDL\nMODEL        2\n" +
                                  kPdbAtoms + "ENDMDL\nEND\n");
  REQUIRE(all.size() == 2);
  for (const Molecule& molecule : all) {
    CHECK(molecule.atomic_numbers == std::vector<std::int32_t>{6, 1, 20, 17});
    CHECK(molecule.positions[3] == 2.0);
    CHECK(molecule.charge == std::optional<std::int32_t>(1));
    REQUIRE(molecule.box.has_value());
    const std::array<double, 9> right{10, 0, 0, -6, 12 * std::sqrt(0.75), 0, 0, 0, 14};
    for (std::size_t i = 0; i < 9; ++i) CHECK((*molecule.box)[i] == Approx(right[i]).margin(1e-9));
  }
}

TEST_CASE("molecule.pdb: elements by name, no charge, no box", "[molecule]") {
  std::string text = kBox;
  text.replace(text.find("P 1 "), 8, "P 21 21 ");
  for (std::size_t at = 0; at < kPdbAtoms.size(); at += 81) text += kPdbAtoms.substr(at, 66) + "\n";
  const std::vector<Molecule> all = read_molecules("a.pdb", text);
  REQUIRE(all.size() == 1);
  CHECK(all[0].atomic_numbers[0] == 6);
  CHECK(all[0].atomic_numbers[2] == 20);
  CHECK_FALSE(all[0].charge.has_value());
  CHECK_FALSE(all[0].box.has_value());
}

TEST_CASE("molecule.pdb: bad input names file and frame", "[molecule]") {
  std::string text = kPdbAtoms;
  CHECK(molecule_error("a.pdb", text.replace(text.find(" C  \n"), 5, " Qq \n"))
            .find("a.pdb: frame 1: atom 1 ('ALA 1 CA') has no element") != std::string::npos);
  text = kPdbAtoms;
  CHECK(
      molecule_error("a.pdb", text.replace(text.find("2.000   2"), 5, "  nan")).find("no number") !=
      std::string::npos);
  CHECK(molecule_error("a.pdb", kPdbAtoms.substr(0, kPdbAtoms.size() - 40)).find("cut short") !=
        std::string::npos);
  CHECK(molecule_error("a.pdb", kPdbAtoms + "TER\n" + kPdbAtoms).find("are at one place") !=
        std::string::npos);
  text = kBox;
  CHECK(molecule_error("a.pdb", text.replace(text.find("10.000"), 6, " -1.00") + kPdbAtoms) ==
        "a.pdb: CRYST1: '    -1.00' is no length");
}

TEST_CASE("molecule.pdb: of two residues that take turns the first counts", "[molecule]") {
  const std::string turns =
      "ATOM      1  CA ASER A   1       1.000   2.000   3.000  0.60  0.00           C  \n"
      "ATOM      2  OG ASER A   1       2.400   2.000   3.000  0.60  0.00           O  \n"
      "ATOM      3  CA BCYS A   1       1.100   2.000   3.000  0.40  0.00           C  \n"
      "ATOM      4  SG BCYS A   1       2.900   2.000   3.000  0.40  0.00           S1-\n"
      "ATOM      5  CA BGLY A   2       5.000   2.000   3.000  0.40  0.00           C  \n"
      // Two ions that have one number do not take turns.
      "HETATM    6 NA    NA A   3       9.000   2.000   3.000  1.00  0.00          NA1+\n"
      "HETATM    7  CL   CL A   3      -9.000   2.000   3.000  1.00  0.00          CL  \n";
  const std::vector<Molecule> all = read_molecules("a.pdb", turns);
  REQUIRE(all.size() == 1);
  CHECK(all[0].atomic_numbers == std::vector<std::int32_t>{6, 8, 6, 11, 17});
  CHECK(all[0].charge == std::optional<std::int32_t>(1));
}

TEST_CASE("molecule.pdb: cells that are none, and an empty file", "[molecule]") {
  for (const char* const cell :
       {"CRYST1    0.000    0.000    0.000  90.00  90.00  90.00 P 1           1\n",
        "CRYST1    0.000    0.000    0.000\n",
        "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1\n"}) {
    const std::vector<Molecule> all = read_molecules("a.pdb", cell + kPdbAtoms);
    REQUIRE(all.size() == 1);
    CHECK_FALSE(all[0].box.has_value());
    CHECK(all[0].remark.empty());
  }
  CHECK(molecule_error("a.pdb", "CRYST1    9.000    0.000    9.000  90.00  90.00  90.00\n" +
                                    kPdbAtoms) == "a.pdb: CRYST1: '    0.000' is no length");
  CHECK(read_molecules("a.pdb", "").empty());
  CHECK(read_molecules("a.ent", "\r\n \n").empty());
  CHECK(molecule_error("a.pdb", "<html>no such entry</html>\n") ==
        "a.pdb: holds no ATOM or HETATM record");
}

TEST_CASE("molecule.pdb: a space group other than P 1 is told", "[molecule]") {
  std::string text = kBox;
  text.replace(text.find("P 1 "), 8, "C 1 2 1 ");
  const Molecule molecule = read_molecules("a.pdb", text + kPdbAtoms).at(0);
  CHECK_FALSE(molecule.box.has_value());
  CHECK(molecule.remark.find("the space group 'C 1 2 1'") != std::string::npos);
}

TEST_CASE("molecule.pdb: deuterium", "[molecule]") {
  const Molecule heavy_water =
      read_molecules(
          "a.pdb",
          "HETATM    1  O   DOD A   7       0.000   0.000   0.000  1.00  0.00           O  \n"
          "HETATM    2  D1  DOD A   7       0.000   0.960   0.000  1.00  0.00           D  \n"
          "HETATM    3  D2  DOD A   7       0.930  -0.240   0.000  1.00  0.00\n")
          .at(0);
  CHECK(heavy_water.atomic_numbers == std::vector<std::int32_t>{8, 1, 1});
  CHECK(heavy_water.mass(1) > 2);
  CHECK(heavy_water.mass(2) > 2);
  CHECK(heavy_water.mass(0) == Approx(15.999));
}

TEST_CASE("molecule.pdb: each frame of a trajectory has its own box", "[molecule]") {
  std::string second = kBox;
  second.replace(second.find("14.000"), 6, "15.500");
  // As MODEL and ENDMDL, as frames that END separates, and with MODEL alone.
  for (const std::string& text :
       {kBox + "MODEL        1\n" + kPdbAtoms + "TER\nENDMDL\n" + second + "MODEL        2\n" +
            kPdbAtoms + "TER\nENDMDL\n",
        kBox + kPdbAtoms + "END\n" + second + kPdbAtoms + "END\n",
        kBox + "MODEL        1\n" + kPdbAtoms + "MODEL        2\n" + second + kPdbAtoms}) {
    const std::vector<Molecule> all = read_molecules("a.pdb", text);
    REQUIRE(all.size() == 2);
    CHECK((*all[0].box)[8] == Approx(14));
    CHECK((*all[1].box)[8] == Approx(15.5));
    CHECK(all[1].n_atoms() == 4);
  }
  const std::vector<Molecule> one_cell =
      read_molecules("a.pdb", kBox + kPdbAtoms + "END\n" + kPdbAtoms + "END\n");
  REQUIRE(one_cell.size() == 2);
  CHECK(one_cell[1].box == one_cell[0].box);
}
