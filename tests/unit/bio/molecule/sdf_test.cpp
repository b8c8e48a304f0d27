#include "tests/support/catch.hpp"
#include "tests/unit/bio/molecule/molecules.hpp"

using namespace biogpu;
using molecule::Molecule;
using test::molecule_error;
using test::read_molecules;

namespace {

const std::string kHeader = "ammonium\n  program           3D\ncomment\n";
// A charge by code (3 is +1) that M  CHG replaces, where it is there.
const std::string kSdfAtoms =
    "  2  1  0  0  0  0  0  0  0  0999 V2000\n"
    "    0.0000    1.5000   -0.2500 N   0  3  0  0  0  0  0  0  0  0  0  0\n"
    "    1.0100    0.0000    0.0000 Cl  0  0\n"
    "  1  2  1  0\n";
const std::string kV3000 =
    "  0  0  0     0  0            999 V3000\n"
    "M  V30 BEGIN CTAB\nM  V30 COUNTS 2 1 0 0 0\nM  V30 BEGIN ATOM\n"
    "M  V30 1 N 0 1.5 -0.25 0 CHG=2\nM  V30 7 Cl 1.01 -\nM  V30 0 0 0 RAD=1 CHG=-1\n"
    "M  V30 END ATOM\nM  V30 BEGIN BOND\nM  V30 1 1 1 7\nM  V30 END BOND\nM  V30 END CTAB\n";

}  // namespace

TEST_CASE("molecule.sdf: both versions, charges, several records", "[molecule]") {
  const std::vector<Molecule> all = read_molecules(
      "a.sdf", kHeader + kSdfAtoms + "M  END\n> <name>\nM  CHG\n\n$$$$\n" + kHeader + kSdfAtoms +
                   "M  CHG  2   1   2   2  -4\nM  END\n$$$$\n" + kHeader + kSdfAtoms +
                   "M  RAD  1   1   2\nM  END\n$$$$\n" + kHeader + kV3000 + "M  END\n$$$$\n\n");
  REQUIRE(all.size() == 4);
  for (const Molecule& molecule : all) {
    CHECK(molecule.name == "ammonium");
    CHECK(molecule.atomic_numbers == std::vector<std::int32_t>{7, 17});
    CHECK(molecule.positions == std::vector<double>{0, 1.5, -0.25, 1.01, 0, 0});
  }
  CHECK(all[0].charge == std::optional<std::int32_t>(1));
  CHECK(all[1].charge == std::optional<std::int32_t>(-2));
  CHECK(all[2].charge == std::optional<std::int32_t>(0));
  CHECK(all[3].charge == std::optional<std::int32_t>(1));
  CHECK(read_molecules("a.mol", kHeader + kSdfAtoms + "M  END").size() == 1);
  CHECK(read_molecules("a.sdf", "").empty());
}

TEST_CASE("molecule.sdf: isotopes have their masses", "[molecule]") {
  const std::string end = "M  END\n$$$$\n";
  CHECK(read_molecules("a.sdf", kHeader + kSdfAtoms + end)[0].masses.empty());
  std::string by_code = kSdfAtoms;  // 14 + 1 and 35 + 2
  by_code.replace(by_code.find("N   0"), 5, "N   1").replace(by_code.find("Cl  0"), 5, "Cl  2");
  CHECK(read_molecules("a.sdf", kHeader + by_code + end)[0].masses ==
        std::vector<double>{15.000108899, 37});
  // M  ISO replaces all codes.
  CHECK(read_molecules("a.sdf", kHeader + by_code + "M  ISO  1   1  13\n" + end)[0].masses ==
        std::vector<double>{13.005738609, 35.45});
  std::string by_key = kV3000;
  by_key.replace(by_key.find("CHG=2"), 5, "MASS=15 CHG=2");
  const Molecule third = read_molecules("a.sdf", kHeader + by_key + "M  END\n")[0];
  CHECK(third.masses == std::vector<double>{15.000108899, 35.45});
  CHECK(third.charge == std::optional<std::int32_t>(1));
  CHECK(molecule_error("a.sdf", kHeader + kSdfAtoms + "M  ISO  1   2  11\n" + end) ==
        "a.sdf: frame 1 (line 8): atom 2 has no isotope 11");
  CHECK(molecule_error("a.sdf", kHeader + kSdfAtoms + "M  ISO  1   3  13\n" + end) ==
        "a.sdf: frame 1 (line 8): isotope of atom 3; there are 2");
  CHECK(molecule_error("a.sdf", kHeader + kSdfAtoms + "M  ISO  1   1  1e1\n" + end) ==
        "a.sdf: frame 1 (line 8): '1e1' is no isotope");
}

TEST_CASE("molecule.sdf: bad input names file, frame and line", "[molecule]") {
  const std::string ok = kHeader + kSdfAtoms + "M  END\n$$$$\n";
  CHECK(molecule_error("a.sdf", ok + kHeader + kSdfAtoms) ==
        "a.sdf: frame 2 (line 16): cut short; expected M  END");
  CHECK(molecule_error("a.sdf", ok + kHeader + kSdfAtoms.substr(0, 60)) ==
        "a.sdf: frame 2 (line 14): '' is no element");
  CHECK(molecule_error("a.sdf", ok + kHeader) ==
        "a.sdf: frame 2 (line 12): cut short; expected the line of counts");
  CHECK(molecule_error("a.sdf", ok + "name\n") ==
        "a.sdf: frame 2 (line 10): cut short in the header");
  std::string text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("Cl"), 2, "R#") + "M  END\n") ==
        "a.sdf: frame 1 (line 6): 'R#' is no element");
  text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("1.0100"), 6, "   nan") + "M  END\n") ==
        "a.sdf: frame 1 (line 6): coordinate 'nan' is no number");
  text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("V2000"), 5, "V4000"))
            .find("ends in no version; expected V2000 or V3000") != std::string::npos);
  text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("  2  1"), 6, "  3  1") + "M  END\n") ==
        "a.sdf: frame 1 (line 7): '' is no element");
  text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("  2  1"), 6, "  2  2") + "M  END\n") ==
        "a.sdf: frame 1 (line 8): 1 of 2 bonds are there");
  CHECK(molecule_error("a.sdf", kHeader + kSdfAtoms + "M  CHG  1   3   1\nM  END\n") ==
        "a.sdf: frame 1 (line 8): charge of atom 3; there are 2");
  CHECK(molecule_error("a.sdf", kHeader + kSdfAtoms + "M  CHG  2   1   1\nM  END\n") ==
        "a.sdf: frame 1 (line 8): 'M  CHG  2   1   1' is malformed; expected a count, then atoms "
        "with charges");
  text = kHeader + kV3000;
  CHECK(molecule_error("a.sdf", text.replace(text.find("COUNTS 2"), 8, "COUNTS 3") + "M  END\n") ==
        "a.sdf: frame 1 (line 11): 2 of 3 atoms are there");
  text = kHeader + kV3000;
  CHECK(molecule_error("a.sdf", text.replace(text.find("COUNTS 2"), 8, "COUNTS 1") + "M  END\n") ==
        "a.sdf: frame 1 (line 10): more than the 1 atoms announced");
  CHECK(molecule_error("a.sdf", kHeader + kV3000) ==
        "a.sdf: frame 1 (line 15): cut short; expected M  END");
}

TEST_CASE("molecule.sdf: a drawing is no geometry", "[molecule]") {
  std::string text = kHeader + kSdfAtoms + "M  END\n";
  text.replace(text.find("3D"), 2, "2D");
  CHECK(molecule_error("a.sdf", text).empty());  // with a third coordinate
  text.replace(text.find("  -0.2500"), 9, "   0.0000");
  CHECK(molecule_error("a.sdf", text) ==
        "a.sdf: frame 1 (line 8): has the coordinates of a drawing (2D); expected those of three "
        "dimensions");
}

TEST_CASE("molecule.sdf: blank lines behind the last record", "[molecule]") {
  const std::string ok = kHeader + kSdfAtoms + "M  END\n$$$$\n";
  for (const std::size_t n : {1, 3, 4, 5, 20}) {
    CHECK(read_molecules("a.sdf", ok + std::string(n, '\n')).size() == 1);
    CHECK(read_molecules("a.sdf", std::string(n, '\n')).empty());
  }
  CHECK(read_molecules("a.sdf", ok + "\n\n\n" + kSdfAtoms + "M  END\n").size() == 2);
  CHECK(molecule_error("a.sdf", ok + "\n\n\n\n\n" + kSdfAtoms + "M  END\n") ==
        "a.sdf: frame 2 (line 15): a record behind more than three blank lines");
}

TEST_CASE("molecule.sdf: charges have bounds on both sides", "[molecule]") {
  for (const char* const charge : {"-2147483648", "2147483647", "-1001", "1001"}) {
    const std::string text = std::string("M  CHG  1   1 ") + charge + "\nM  END\n";
    CHECK(molecule_error("a.sdf", kHeader + kSdfAtoms + text) ==
          "a.sdf: frame 1 (line 8): '" + std::string(charge) + "' is no charge");
    std::string v3000 = kHeader + kV3000 + "M  END\n";
    v3000.replace(v3000.find("CHG=2"), 5, std::string("CHG=") + charge);
    CHECK(molecule_error("a.sdf", v3000).find("is no charge") != std::string::npos);
  }
  CHECK(read_molecules("a.sdf", kHeader + kSdfAtoms + "M  CHG  1   1 -1000\nM  END\n")[0].charge ==
        std::optional<std::int32_t>(-1000));
}

TEST_CASE("molecule.sdf: a count that is too small loses nothing in silence", "[molecule]") {
  std::string text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("  2  1"), 6, "  1  1") + "M  END\n")
            .find("is no bond of the 1 atoms announced; there may be more atoms") !=
        std::string::npos);
  text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("  2  1"), 6, "  2  0") + "M  END\n") ==
        "a.sdf: frame 1 (line 7): '  1  2  1  0' is no property; there may be more atoms or bonds "
        "than announced");
  text = kHeader + kSdfAtoms;
  CHECK(molecule_error("a.sdf", text.replace(text.find("  2  1"), 6, "  1  0") + "M  END\n")
            .find("is no property") != std::string::npos);
  // Texts of atoms may be anything.
  CHECK(molecule_error("a.sdf", kHeader + kSdfAtoms +
                                    "A    1\n    1.0 2.0 C\n\nV    1 x\nS  SKP  1\n  9\nM  END\n")
            .empty());
}

TEST_CASE("molecule.sdf: a table without charges implies none", "[molecule]") {
  std::string text = kHeader + kSdfAtoms;
  text.replace(text.find("N   0  3"), 8, "N   0  0");
  const Molecule molecule = read_molecules("a.sdf", text + "M  END\n")[0];
  CHECK_FALSE(molecule.charge.has_value());
  CHECK(molecule.implied_charge == std::optional<std::int32_t>(0));
}
