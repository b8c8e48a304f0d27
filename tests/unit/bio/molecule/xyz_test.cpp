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
  CHECK(*salt.find_info("a key") == "b");
  CHECK(salt.find_info("charge") == nullptr);
}

TEST_CASE("molecule.xyz: fixed atoms of ASE", "[molecule]") {
  const std::string head = "2\nProperties=species:S:1:pos:R:3:move_mask:L:";
  const Molecule atoms = read_molecules("a.extxyz", head + "1\nC 1 2 3 F\nO 4 5 6 True\n")[0];
  CHECK(atoms.fixed == std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0});
  const Molecule axes = read_molecules("a.extxyz", head + "3\nC 1 2 3 F T T\nO 4 5 6 T T F\n")[0];
  CHECK(axes.fixed == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1});
  for (const Molecule& molecule : {atoms, axes}) {
    std::string text;
    molecule::append_extxyz(text, molecule, {});
    CHECK(read_molecules("back.extxyz", text)[0].fixed == molecule.fixed);
  }
  std::string text;
  molecule::append_extxyz(text, read_molecules("a.extxyz", head + "1\nC 1 2 3 T\nO 4 5 6 T\n")[0],
                          {});
  CHECK(text.find("move_mask") == std::string::npos);
  CHECK(molecule_error("a.extxyz", head + "1\nC 1 2 3 F\nO 4 5 6 no\n") ==
        "a.extxyz: frame 1 (line 4): move_mask 'no'; expected T or F");
  CHECK(molecule_error("a.extxyz", head + "2\nC 1 2 3 F F\nO 4 5 6 T T\n") ==
        "a.extxyz: frame 1 (line 2): Properties has move_mask:L:2; expected move_mask:L:1");
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

namespace {

const std::string kCube = "7 0 0 0.5 8 0 0 0.25 9";
const std::array<double, 9> kCubeBox{7, 0, 0, 0.5, 8, 0, 0, 0.25, 9};

std::string frame_of(const std::string& comment) { return "1\n" + comment + "\nAr 1 2 3\n"; }
Molecule molecule_of(const std::string& comment) {
  return read_molecules("a.extxyz", frame_of(comment)).at(0);
}

}  // namespace

TEST_CASE("molecule.xyz: a box in any way of writing it", "[molecule]") {
  for (const std::string& comment : {
           "Lattice= \"" + kCube + "\" pbc = \"T T T\"",
           "Lattice =\t'" + kCube + "' Properties=species:S:1:pos:R:3",
           "energy=-1.5 Lattice={" + kCube + "} pbc={T T T}",
           std::string("Lattice=[[7,0, 0], [0.5, 8, 0], [0, 0.25,9]] pbc=[T, T, T]"),
           std::string("Lattice=[7, 0, 0, 0.5, 8, 0, 0, 0.25, 9] pbc=T"),
           "pbc=[true,True,TRUE] Lattice=\"" + kCube + "\" charge=0",
           "pbc=\"1 1 1\" 'Lattice'=\"" + kCube + "\"",
           std::string("Lattice=\"0.7d1 0 0 5D-1 8. 0 0 .25 9e0\""),
           "note=\"it's \\\"A\\\" = B\" Lattice=\"" + kCube + "\"",
       }) {
    CAPTURE(comment);
    const Molecule molecule = molecule_of(comment);
    REQUIRE(molecule.box.has_value());
    CHECK(*molecule.box == kCubeBox);
  }
  CHECK(molecule_of("Lattice=\"3 4 5\"").box == std::array<double, 9>{3, 0, 0, 0, 4, 0, 0, 0, 5});
  for (const std::string pbc : {"F", "\"F F F\"", "'0 0 0'", "[false, False, FALSE]"})
    CHECK_FALSE(molecule_of("Lattice=\"" + kCube + "\" pbc=" + pbc).box.has_value());
  CHECK_FALSE(molecule_of("cell=\"" + kCube + "\" pbc=F").box.has_value());
}

TEST_CASE("molecule.xyz: a box that cannot be read is refused", "[molecule]") {
  const auto refusal = [](const std::string& comment) {
    return molecule_error("a.xyz", frame_of(comment));
  };
  const std::string box = "Lattice=\"" + kCube + "\" ", place = "a.xyz: frame 1 (line 2): ";
  for (const std::string pbc :
       {"''", "\"T T\"", "\"T T T T\"", "\"p p p\"", "no", "TTT", "\"2 2 2\"", "\"F F\""}) {
    CAPTURE(pbc);
    CHECK(refusal(box + "pbc=" + pbc).find(place + "pbc='") == 0);
    CHECK(refusal("pbc=" + pbc).find("is no T or F for each axis") != std::string::npos);
  }
  CHECK(refusal("pbc=\"T T T\" Properties=species:S:1:pos:R:3") ==
        place + "pbc='T T T' is periodic, but there is no Lattice");
  CHECK(refusal("LATTICE=\"" + kCube + "\"") ==
        place + "has a box in 'LATTICE'; expected the key Lattice");
  CHECK(refusal("cell=[" + kCube + "]") == place + "has a box in 'cell'; expected the key Lattice");
  CHECK(refusal(box + "PBC=\"F F F\"") == place + "has the key 'PBC'; expected pbc");
  CHECK(refusal(box + "pbc") == place + "pbc has no value");
  CHECK(refusal(box + box) == place + "Lattice is there twice");
  CHECK(refusal("Lattice=\"\"") == place + "Lattice has 0 numbers; expected 9");
  CHECK(refusal("Lattice=\"a b c\"") == place + "Lattice has 'a', which is no number");
  CHECK(refusal("Lattice=\"1 2 3 pbc=T") ==
        place + "the comment has a quote or bracket that does not end");
  CHECK(refusal(box + "= 5") == place + "the comment has a value without a key");
  CHECK(refusal("properties=id:I:1:species:S:1:pos:R:3") ==
        place + "has the key 'properties'; expected Properties");
  // Words of a plain comment are none of these.
  CHECK(refusal("lattice constant=5.4, pbc or not").empty());
}

TEST_CASE("molecule.xyz: charges in plain comments", "[molecule]") {
  using Charge = std::optional<std::int32_t>;
  CHECK(molecule_of("charge = -2").charge == Charge(-2));
  CHECK(molecule_of("Charge=1, spin=2").charge == Charge(1));
  CHECK(molecule_of("E= -3.5 charge=+2; it's a cation").charge == Charge(2));
  CHECK(molecule_of("charge: unknown").charge == Charge());
  const Molecule words = molecule_of(" a charge, 0 or 1  ");
  CHECK(words.charge == Charge());
  REQUIRE(words.info.size() == 1);
  CHECK(*words.find_info("comment") == "a charge, 0 or 1");
  CHECK(molecule_of("the charge, pbc and Lattice of x=1").find_info("pbc") == nullptr);
  CHECK(molecule_error("a.xyz", frame_of("charge=?")) ==
        "a.xyz: frame 1 (line 2): charge='?' is no whole number");
  CHECK(molecule_error("a.xyz", frame_of("charge=1 Charge=0")) ==
        "a.xyz: frame 1 (line 2): Charge is there twice");
}

TEST_CASE("molecule.xyz: velocities, momenta and masses", "[molecule]") {
  const auto read = [](const std::string& columns, const std::string& rest) {
    return read_molecules("a.xyz", "1\nProperties=species:S:1:pos:R:3" + columns + "\n" + rest);
  };
  CHECK(read(":velo:R:3", "He 0 0 0 0.1 -2 3\n")[0].velocities == std::vector<double>{0.1, -2, 3});
  // ASE's time is 10.1805 fs.
  const Molecule helium = read(":momenta:R:3", "He 0 0 0 4.002602 0 -8.005204\n")[0];
  CHECK(helium.velocities[0] == Approx(1 / 10.180505).epsilon(1e-7));
  CHECK(helium.velocities[2] == Approx(-2 / 10.180505).epsilon(1e-7));
  const Molecule heavy = read(":masses:R:1:momenta:R:3", "He 0 0 0 2 4 0 0\n")[0];
  CHECK(heavy.mass(0) == 2);
  CHECK(heavy.velocities[0] == Approx(2 / 10.180505).epsilon(1e-7));
  std::string text;
  molecule::append_extxyz(text, heavy, {});
  CHECK(read_molecules("b.xyz", text)[0].masses == heavy.masses);
  const Molecule ice = read_molecules("a.xyz", "3\n\nO 0 0 0\nD 1 0 0\nH 0 1 0\n")[0];
  CHECK(ice.atomic_numbers == std::vector<std::int32_t>{8, 1, 1});
  CHECK(ice.mass(0) == molecule::atomic_mass(8));
  CHECK(ice.mass(1) == Approx(2.0141).epsilon(1e-4));
  CHECK(ice.mass(2) == molecule::atomic_mass(1));
  const auto refusal = [](const std::string& columns, const std::string& fields) {
    return molecule_error(
        "a.xyz", "1\nProperties=species:S:1:pos:R:3" + columns + "\nHe 0 0 0 " + fields + "\n");
  };
  CHECK(refusal(":momenta:R:1", "1").find("expected momenta:R:3") != std::string::npos);
  CHECK(refusal(":momenta:R:3:velo:R:3", "1 1 1 1 1 1").find("velocities twice") !=
        std::string::npos);
  CHECK(refusal(":mass:R:1", "0").find("mass '0'; expected one from") != std::string::npos);
  CHECK(refusal(":Z:I:1", "3").find("an atom of species 'He' with Z '3'") != std::string::npos);
  CHECK(refusal(":Z:I:1", "2").empty());
}

TEST_CASE("molecule.xyz: results of the input do not stay with new ones", "[molecule]") {
  Molecule molecule = molecule_of(
      "empty='' charge=0 energy=-1 free_energy=-1.5 dipole=\"0 0 1\" temperature_K=300 "
      "name=\"a\\nb\"");
  std::string text;
  molecule::append_extxyz(text, molecule, {-2., {}, {}, {}});
  const Molecule back = read_molecules("b.xyz", text)[0];
  CHECK(*back.find_info("energy") == "-2");
  for (const char* const key : {"free_energy", "dipole", "temperature_K"})
    CHECK(back.find_info(key) == nullptr);
  CHECK(*back.find_info("name") == "a\nb");
  CHECK(*back.find_info("empty") == " ");  // as ASE can read it
}

TEST_CASE("molecule.xyz: molecules of QM9", "[molecule]") {
  const std::string properties = "\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14\t15\t\n";
  const std::string atoms = "C\t0.5\t 1.25*^-3\t 0\t-0.5\nH\t 2\t 0\t 0\t 0.1\n";
  const std::string first = "2\ngdb 21" + properties + atoms;
  const std::string behind = "1300.5\t3100.25\nC#N\tC#N\t\nInChI=1S/CHN/c1-2/h1H\tInChI=1S/x\n";
  const std::vector<Molecule> all =
      read_molecules("q.xyz", first + behind + first + first + behind + "\n");
  REQUIRE(all.size() == 3);
  CHECK(all[2].positions == std::vector<double>{0.5, 0.00125, 0, 2, 0, 0});
  CHECK(molecule_error("q.xyz", first + "1300.5\nC\n2\n").find("expected the InChI of QM9") !=
        std::string::npos);
  CHECK(molecule_error("q.xyz", "1\nmine\nHe 0 0 0\n1300.5\nC\nInChI=1S\n")
            .find("'1300.5' is no number of atoms") != std::string::npos);
}

TEST_CASE("molecule: suffixes in capitals", "[molecule]") {
  for (const char* const name : {"A.XYZ", "a.ExtXYZ"})
    CHECK(read_molecules(name, "1\n\nHe 0 0 0\n").size() == 1);
  CHECK(molecule::find_molecule_format("x.PDB.GZ") == molecule::MoleculeFormat::pdb);
  CHECK(molecule::find_molecule_format("x.Sdf") == molecule::MoleculeFormat::sdf);
  CHECK_FALSE(molecule::find_molecule_format("XYZ").has_value());
}
