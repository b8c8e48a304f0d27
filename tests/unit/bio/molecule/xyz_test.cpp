#include "lib/bio/molecule/atomic_mass.hpp"
#include "lib/bio/molecule/extxyz_writer.hpp"
#include "lib/structure/elements.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bio/molecule/molecules.hpp"

using namespace biogpu;
using molecule::Molecule;
using test::molecule_error;
using test::read_molecules;

namespace {

const char* const kWater =
    "3\nwater, it's \"plain\nO 0 0 0.1\nH 0.76 0 -0.48\n8 -7.6E-1 9 +0.5 x\n";
const char* const kSalt =
    "2\nLattice=\"5.6 0 0 0 5.7 0 0.1 0 5.8\" Properties=id:I:1:pos:R:3:species:S:1:velocities:R:3 "
    "charge=-1 \"a key\"='b' energy=-3.5 step=7 note=\"say \\\"x\\\"\" flag list={1 2}\n"
    "1 0 0 0 Na 1 2 3\n2 2.8 2.8 2.9 CL 4 5 -6e-3\n";

}  // namespace

TEST_CASE("molecule.xyz: plain frames, symbols and numbers", "[molecule]") {
  const std::vector<Molecule> frames = read_molecules("w.xyz", kWater + std::string("\n") + kWater);
  REQUIRE(frames.size() == 2);
  CHECK(frames[1].atomic_numbers == std::vector<std::int32_t>{8, 1, 8});
  CHECK(frames[1].positions == std::vector<double>{0, 0, 0.1, 0.76, 0, -0.48, -0.76, 9, 0.5});
  CHECK_FALSE(frames[1].box.has_value());
  CHECK_FALSE(frames[1].charge.has_value());
  CHECK(read_molecules("none.xyz", "\n \n").empty());
  CHECK(read_molecules("crlf.xyz", "1\r\n\r\nHe 1 2 3\r\n")[0].positions[2] == 3);
  CHECK(structure::atomic_number_of("og") == 118);
  CHECK(structure::atomic_number_of("D") == 0);
  CHECK(structure::element_symbol(17) == "Cl");
  CHECK(molecule::atomic_mass(92) == 238.02891);
}

TEST_CASE("molecule.xyz: extended frames", "[molecule]") {
  const std::vector<Molecule> frames = read_molecules("salt.extxyz", kSalt);
  REQUIRE(frames.size() == 1);
  const Molecule& salt = frames[0];
  CHECK(salt.atomic_numbers == std::vector<std::int32_t>{11, 17});
  CHECK(salt.positions == std::vector<double>{0, 0, 0, 2.8, 2.8, 2.9});
  CHECK(salt.velocities == std::vector<double>{1, 2, 3, 4, 5, -0.006});
  REQUIRE(salt.box.has_value());
  CHECK((*salt.box)[6] == 0.1);
  CHECK(salt.charge == std::optional<std::int32_t>(-1));
  REQUIRE(salt.find_info("note") != nullptr);
  CHECK(*salt.find_info("note") == "say \"x\"");
  CHECK(*salt.find_info("flag") == "T");
  CHECK(*salt.find_info("list") == "1 2");
  CHECK(*salt.find_info("a key") == "'b'");
  CHECK(salt.find_info("charge") == nullptr);
}

TEST_CASE("molecule.xyz: what is written is read back, bit by bit", "[molecule]") {
  Molecule salt = read_molecules("salt.extxyz", kSalt)[0];
  salt.positions[1] = 1.0 / 3;
  salt.velocities[2] = -5e-324;
  salt.partial_charges = {0.1, -1.0 / 3};
  std::string text;
  molecule::append_extxyz(
      text, salt,
      {-0.1, {1, 2, 3, 4, 5, 1e300}, {{1, 0, 0, 0, 1, 0, 0, 0, 2. / 3}}, {{"step", "8"}}});
  const Molecule back = read_molecules("back.extxyz", text)[0];
  CHECK(back.positions == salt.positions);
  CHECK(back.velocities == salt.velocities);
  CHECK(back.partial_charges == salt.partial_charges);
  CHECK(back.box == salt.box);
  CHECK(back.charge == salt.charge);
  CHECK(*back.find_info("step") == "8");
  CHECK(*back.find_info("energy") == "-0.1");
  CHECK(*back.find_info("note") == "say \"x\"");
  CHECK(*back.find_info("stress") == "1 0 0 0 1 0 0 0 0.6666666666666666");
  CHECK(text.find("species:S:1:pos:R:3:velocities:R:3:forces:R:3:partial_charges:R:1") !=
        text.npos);
  CHECK(text.find(" 4 5 1e+300 -0.3") != text.npos);
}

TEST_CASE("molecule.xyz: bad input names file, frame and line", "[molecule]") {
  const std::string ok = "1\n\nHe 0 0 0\n";
  CHECK(molecule_error("a.xyz", ok + "2\n\nH 0 0 0\n") ==
        "a.xyz: frame 2 (line 6): cut short: 1 of 2 atoms are there");
  CHECK(molecule_error("a.xyz", ok + "2\n") ==
        "a.xyz: frame 2 (line 4): cut short behind the number of atoms");
  CHECK(molecule_error("a.xyz", ok + "1\n\nXx 0 0 0\n") ==
        "a.xyz: frame 2 (line 6): 'Xx' is no element");
  CHECK(molecule_error("a.xyz", ok + "1\n\nH 0 nan 0\n") ==
        "a.xyz: frame 2 (line 6): coordinate 'nan' is no number");
  CHECK(molecule_error("a.xyz", ok + "1\n\nH 0 1e999 0\n") ==
        "a.xyz: frame 2 (line 6): coordinate '1e999' is no number");
  CHECK(molecule_error("a.xyz", ok + "1\n\nH 0 1e7 0\n") ==
        "a.xyz: frame 2: atom 1: a coordinate is 10000000; expected a number from -1000000 to "
        "1000000");
  CHECK(molecule_error("a.xyz", ok + "1\n\nH 0 0\n") ==
        "a.xyz: frame 2 (line 6): an atom with 3 fields; expected 4: the frame may be cut short");
  CHECK(molecule_error("a.xyz", ok + "0\n\n") ==
        "a.xyz: frame 2 (line 4): '0' is no number of atoms; expected one from 1");
  CHECK(molecule_error("a.xyz", "3\n\nH 0 0 1\nO 4 4 4\nC 0 0 1.0005\n") ==
        "a.xyz: frame 1: atoms 1 (H) and 3 (C) are at one place");
  CHECK(molecule_error("a.xyz", "2\n\nH 0 0 1\nC 0 0 1.002\n").empty());
  CHECK(molecule_error("a.extxyz", "1\nLattice=\"1 0 0 0 1 0 0 0\"\nH 0 0 0\n") ==
        "a.extxyz: frame 1 (line 2): Lattice has 8 numbers; expected 9");
  CHECK(molecule_error("a.extxyz", "1\nLattice=\"1 0 0 0 1 0 1 1 0\"\nH 0 0 0\n") ==
        "a.extxyz: frame 1: a box without volume: its vectors lie in one plane");
  CHECK(molecule_error("a.extxyz", "1\nLattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"T T F\"\nH 0 0 0\n") ==
        "a.extxyz: frame 1 (line 2): pbc='T T F' is periodic in some directions; expected all or "
        "none");
  CHECK(molecule_error("a.extxyz", "1\nProperties=pos:R:3\nH 0 0 0\n") ==
        "a.extxyz: frame 1 (line 2): Properties='pos:R:3' has no species:S:1 or no pos:R:3");
  CHECK(molecule_error("a.extxyz", "1\nProperties=pos:R:99999999999\nH 0 0 0\n") ==
        "a.extxyz: frame 1 (line 2): Properties='pos:R:99999999999' is malformed; expected "
        "NAME:S|R|I|L:COLUMNS:...");
  CHECK(molecule_error("a.extxyz", "1\ncharge=0.5\nH 0 0 0\n") ==
        "a.extxyz: frame 1 (line 2): charge='0.5' is no whole number");
  CHECK(molecule_error("a.cif", ok) ==
        "a.cif: no format by its suffix; expected .xyz, .extxyz, .pdb, .ent, .sdf or .mol, perhaps "
        ".gz");
}

TEST_CASE("molecule.xyz: goes on behind a bad frame only where it is known to end", "[molecule]") {
  const test::TempFolder folder;
  const auto recovers = [&](const std::string& name, const std::string& text) {
    const auto reader = molecule::open_molecules(folder.file(name, text));
    Molecule molecule;
    try {
      while (reader->next(molecule)) {
      }
    } catch (const Error&) {
      return reader->recover();
    }
    FAIL("no frame is bad");
    return false;
  };
  CHECK(recovers("element.xyz", "1\n\nQq 0 0 0\n1\n\nH 0 0 0\n"));
  CHECK(recovers("fields.xyz", "1\n\nH 0 0\n1\n\nH 0 0 0\n"));
  // The number of atoms of the second frame is read as an atom of the first.
  CHECK_FALSE(recovers("short.xyz", "3\n\nH 0 0 0\n1\n\nH 0 0 0\n"));
  // A gzip member that ends early is no bad frame, also where earlier pieces of it are whole.
  std::string frames;
  for (int i = 0; i < 4000; ++i)
    frames += "1\n" + std::string(5000, static_cast<char>('a' + i % 26)) + "\nH 0 0 0\n";
  const std::string packed = test::gzip(frames);
  CHECK_FALSE(recovers("cut.xyz.gz", packed.substr(0, packed.size() - 20)));
}

TEST_CASE("molecule.xyz: atoms at one place through a wall of the box", "[molecule]") {
  const std::string box = "Lattice=\"4 0 0 1 5 0 0 2 6\"\n";
  // The second is the first, shifted by a + b - c and by less than the bound.
  CHECK(molecule_error("a.extxyz", "2\n" + box + "H 0 0 0\nC 5 3 -6.0004\n") ==
        "a.extxyz: frame 1: atoms 1 (H) and 2 (C) are at one place");
  CHECK(molecule_error("a.extxyz", "2\n" + box + "H 0 0 0\nC 5 3 -5.9996\n") ==
        "a.extxyz: frame 1: atoms 1 (H) and 2 (C) are at one place");
  CHECK(molecule_error("a.extxyz", "2\n" + box + "H 0 0 0\nC 5 3 -5.99\n").empty());
  CHECK(molecule_error("a.extxyz", "2\npbc=\"F F F\" " + box + "H 0 0 0\nC 5 3 -6\n").empty());
}
