#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/structure/residue_names.hpp"
#include "lib/structure/structure.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"
#include "tests/unit/structure/as_mmcif.hpp"
#include "tests/unit/structure/slurp.hpp"

using namespace biogpu;
using test::as_mmcif;
using test::slurp;

namespace {

const std::string kEdited = std::string(BIOGPU_TEST_DATA) + "/models/proteinmpnn/edited.pdb";

std::string zipped(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(bytes.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string structure_error(const std::string& path) {
  try {
    structure::read_structure(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Four backbone atoms of a residue; record: "ATOM  " or "HETATM".
std::string residue(const std::string& record, const std::string& name, char chain, int number,
                    double x = 0) {
  std::string text;
  int serial = 0;
  for (const char* atom : {" N  ", " CA ", " C  ", " O  "}) {
    ++serial;
    text += fmt::format("{}{:5} {} {:>3} {}{:4}    {:8.3f}{:8.3f}{:8.3f}  1.00 10.00\n", record,
                        serial, atom, name, chain, number, x, 3.8 * (number % 1000), 1.5 * serial);
  }
  return text;
}

void check_same(const structure::Structure& a, const structure::Structure& b) {
  REQUIRE(a.chains.size() == b.chains.size());
  for (std::size_t c = 0; c < a.chains.size(); ++c) {
    CHECK(a.chains[c].name == b.chains[c].name);
    CHECK(a.chains[c].sequence == b.chains[c].sequence);
    CHECK(a.chains[c].labels == b.chains[c].labels);
    REQUIRE(a.chains[c].backbone.size() == b.chains[c].backbone.size());
    for (std::size_t i = 0; i < a.chains[c].backbone.size(); ++i)
      for (std::size_t x = 0; x < 12; ++x) {
        const float left = a.chains[c].backbone[i][x], right = b.chains[c].backbone[i][x];
        CHECK((left == right || (std::isnan(left) && std::isnan(right))));
      }
  }
}

}  // namespace

TEST_CASE("structure.read_structure: gaps, codes, locations and MSE are the original's",
          "[structure]") {
  const structure::Structure structure = structure::read_structure(kEdited);
  CHECK(structure.name == "edited");
  REQUIRE(structure.chains.size() == 2);
  const structure::Chain &a = structure.chains[0], &b = structure.chains[1];
  // As the original's parser reads the file; X: missing in A, of no standard kind in B, and where
  // an insertion took a residue's number.
  CHECK(a.sequence == "SLHLPKYDDXVQSISVLALTMSGSELHGIMCG");
  CHECK(b.sequence == "SLHLPMYDDFVQXISVLALTMXSGSELHGIMCG");
  CHECK(std::isnan(a.backbone[9][3]));
  CHECK(std::isnan(a.backbone[14][9]));
  CHECK_FALSE(std::isnan(a.backbone[14][3]));
  CHECK_FALSE(std::isnan(b.backbone[12][3]));
  CHECK(b.labels[20] == b.labels[19] + "A");
  CHECK(a.backbone[0][0] != 0.0f);  // of the first model
}

TEST_CASE("structure.read_structure: mmCIF and gzip hold the same", "[structure]") {
  const test::Folder folder;
  const std::string pdb = slurp(kEdited), cif = as_mmcif(pdb);
  const structure::Structure expected = structure::read_structure(kEdited);
  check_same(structure::read_structure(folder.write("a.cif", cif)), expected);
  check_same(structure::read_structure(folder.write("a.pdb.gz", zipped(pdb))), expected);
  check_same(structure::read_structure(folder.write("a.cif.gz", zipped(cif))), expected);
  CHECK(structure::read_structure(folder.path("a.cif.gz")).name == "a");
  CHECK(structure::has_structure_suffix("x/a.cif.gz"));
  CHECK_FALSE(structure::has_structure_suffix("a.fasta"));
}

TEST_CASE("structure.read_structure: a file goes on behind END", "[structure]") {
  const test::Folder folder;
  const std::string pdb = slurp(kEdited);
  std::string with_end = pdb;
  with_end.insert(with_end.find("ATOM", with_end.size() / 4), "END\n");
  check_same(structure::read_structure(folder.write("a.pdb", with_end)),
             structure::read_structure(kEdited));
}

TEST_CASE("structure.read_structure: files with models that were joined are one", "[structure]") {
  const test::Folder folder;
  const std::string pdb = slurp(kEdited);
  const std::size_t atoms = pdb.find("ATOM"), half = pdb.rfind('\n', pdb.size() / 2) + 1;
  const auto model = [](int number, const std::string& text) {
    return fmt::format("MODEL     {:4}\n{}ENDMDL\n", number, text);
  };
  const std::string first = pdb.substr(0, atoms) + model(1, pdb.substr(atoms, half - atoms));
  const std::string second = model(1, pdb.substr(half)) + model(2, pdb.substr(atoms)) + "END\n";
  check_same(structure::read_structure(folder.write("a.pdb", first + "END\n" + second)),
             structure::read_structure(kEdited));
}

TEST_CASE("structure.read_structure: damage is told with file and record", "[structure]") {
  const test::Folder folder;
  const std::string pdb = slurp(kEdited);
  const std::string cut = folder.write("cut.pdb", pdb.substr(0, 5000));
  CHECK(structure_error(cut).find(cut + ": record ") == 0);
  std::string garbled = pdb;
  garbled.replace(garbled.find("ATOM") + 30, 8, "  1x.000");
  const std::string path = folder.write("garbled.pdb", garbled);
  CHECK(structure_error(path) == path + ": record 1 (line 3): coordinate '  1x.000' is no number");
  const std::string cif = as_mmcif(pdb);
  const std::string short_cif =
      folder.write("cut.cif", cif.substr(0, cif.find('\n', cif.size() / 2) + 20));
  CHECK(structure_error(short_cif).find(short_cif + ": ") == 0);
  for (const std::string bad : {"abc", "1.5x", "1e999"}) {
    std::string odd = cif;
    const std::size_t x = odd.find(pdb.substr(pdb.find("ATOM") + 32, 6));
    REQUIRE(x != std::string::npos);
    odd.replace(x, 6, bad);
    CHECK(structure_error(folder.write("odd.cif", odd)).find("is no number") != std::string::npos);
  }
  const std::string gz = zipped(pdb);
  const std::string short_gz = folder.write("cut.pdb.gz", gz.substr(0, gz.size() / 2));
  CHECK(structure_error(short_gz).find(short_gz) == 0);
  const std::string water = folder.write("water.pdb",
                                         "HETATM    1  O   HOH A   1       1.000   2.000   3.000"
                                         "  1.00 10.00           O\nEND\n");
  CHECK(structure_error(water) ==
        water + ": holds no residue with the backbone atoms N, CA, C and O");
  CHECK_FALSE(structure_error(folder.write("empty.pdb", "")).empty());
  CHECK_FALSE(structure_error(folder.path("none.pdb")).empty());
}

TEST_CASE("structure.read_structure: variants of a residue have their parent's letter",
          "[structure]") {
  const test::Folder folder;
  const std::vector<std::string> names{"HSP", "CYM", "LYN", "ASH", "GLH", "HIE", "MSE",
                                       "TPO", "MLY", "DTR", "NLE", "SEC", "QQQ", "UNK"};
  std::string pdb, het;
  for (std::size_t i = 0; i < names.size(); ++i) {
    pdb += residue("ATOM  ", names[i], 'A', static_cast<int>(i) + 1);
    het += residue("HETATM", names[i], 'A', static_cast<int>(i) + 1);
  }
  const structure::Structure atoms = structure::read_structure(folder.write("a.pdb", pdb));
  CHECK(atoms.chains[0].sequence == "HCKDEHMTKWLCXX");
  CHECK(atoms.unknown == std::set<std::string>{"QQQ"});
  CHECK(atoms.left_out.empty());
  check_same(structure::read_structure(folder.write("a.cif", as_mmcif(pdb))), atoms);
  // In HETATM records those with a parent, as the PDB writes modified residues of a chain.
  const structure::Structure hets =
      structure::read_structure(folder.write("het.pdb", residue("ATOM  ", "ALA", 'A', 0) + het));
  CHECK(hets.chains[0].sequence == "AHCKDEHMTKWLC");
  CHECK(hets.left_out == std::set<std::string>{"QQQ", "UNK"});
  // A ligand behind the chain's end is none of it, nor is a standard residue that is a ligand.
  const structure::Structure ligand = structure::read_structure(folder.write(
      "ligand.pdb", residue("ATOM  ", "ALA", 'A', 1) + "TER\n" + residue("HETATM", "TPO", 'A', 2) +
                        residue("HETATM", "GLY", 'A', 3)));
  CHECK(ligand.chains[0].sequence == "A");
}

TEST_CASE("structure.residue_names: a name stands for one parent", "[structure]") {
  CHECK(structure::residue_letter("HID") == 'H');
  CHECK(structure::residue_letter("M3L") == 'K');
  CHECK(structure::residue_letter("TRP") == 'W');
  // Parts of two names that stand side by side, and what has no single parent.
  for (const char* name : {"", "A", "AL DA", "ID ", "D H", "ASX", "PCA", "CRO", "HOH", "DG"})
    CHECK(structure::residue_letter(name) == 0);
  CHECK(structure::is_standard_residue("SER"));
  CHECK_FALSE(structure::is_standard_residue("SEP"));
}

TEST_CASE("structure.read_structure: numbers that are left out are bounded", "[structure]") {
  const test::Folder folder;
  const auto with = [&](const std::vector<int>& numbers, int n_chains) {
    std::string pdb;
    for (int c = 0; c < n_chains; ++c)
      for (const int number : numbers)
        pdb += residue("ATOM  ", "GLY", static_cast<char>('A' + c), number, c);
    return folder.write("gap.pdb", pdb);
  };
  CHECK(structure::read_structure(with({1, 5002}, 1)).size() == 5002);
  const std::string path = with({1, 5003}, 1);
  CHECK(structure_error(path) ==
        path +
            ": chain A: residues 1 to 5003: 5001 numbers are left out between "
            "them, 5001 in all; expected at most 5000 for 2 residues");
  CHECK(structure_error(with({-99, 2, 9999}, 1)).find("10096 in all") != std::string::npos);
  // Chains add up; many residues may leave more out.
  CHECK(structure::read_structure(with({1, 2001}, 2)).size() == 4002);
  CHECK(structure_error(with({1, 2001}, 3)).find("5997 in all") != std::string::npos);
  std::vector<int> many;
  for (int number = 1; number <= 1500; ++number) many.push_back(number);
  many.push_back(7500);
  CHECK(structure::read_structure(with(many, 1)).size() == 7500);
  // Numbers of mmCIF may be any.
  std::string cif = as_mmcif(residue("ATOM  ", "GLY", 'A', 1) + residue("ATOM  ", "GLY", 'A', 7));
  for (std::size_t at = 0; (at = cif.find(" 7 A 1\n", at)) != std::string::npos;)
    cif.replace(at, 3, "  999999999 ");
  CHECK(structure_error(folder.write("far.cif", cif)).find("999999997 numbers") !=
        std::string::npos);
}

TEST_CASE("structure.read_structure: gzip that expands without end is refused early",
          "[structure]") {
  const test::Folder folder;
  std::string text = "REMARK\n";
  text.resize(40u << 20, ' ');
  const std::string blanks = folder.write("blanks.pdb.gz", zipped(text));
  CHECK(structure_error(blanks) ==
        blanks + ": gzip expands to more than 50 times its size; expected a structure");
  const std::string zeros = folder.write("zeros.pdb.gz", zipped(std::string(40u << 20, '\0')));
  CHECK(structure_error(zeros) == zeros + ": holds a byte 0x00; expected the text of PDB or mmCIF");
  CHECK(structure_error(folder.write("a.pdb", slurp(kEdited) + '\0')).find("byte 0x00") !=
        std::string::npos);
}

TEST_CASE("structure.read_structure: numbers past those of an int are refused", "[structure]") {
  const test::Folder folder;
  const std::string cif = as_mmcif(residue("ATOM  ", "GLY", 'A', 1));
  for (const std::string number : {"3000000000", "-12345678901x", "'  98765432109'"}) {
    std::string odd = cif;
    odd.replace(odd.find(" 1 A 1\n"), 2, " " + number);
    const std::string path = folder.write("odd.cif", odd);
    CHECK(structure_error(path) == path + ": _atom_site: '" + number + "' is out of range");
  }
  // What is not read of a file may hold anything.
  const std::string more = cif + "_cell.length_a 12345678901234567890\n_struct_conf.id x\n";
  CHECK(structure::read_structure(folder.write("more.cif", more)).size() == 1);
  const std::string remarks = "REMARK caf\xe9\n\xff\nDBREF  " + std::string(50, '9') + "\n";
  CHECK(structure::read_structure(folder.write("a.pdb", remarks + residue("ATOM  ", "GLY", 'A', 1)))
            .size() == 1);
}

TEST_CASE("structure.read_structure: coordinates that are no place are refused", "[structure]") {
  const test::Folder folder;
  std::string cif = as_mmcif(residue("ATOM  ", "GLY", 'A', 1, 12.5));
  cif.replace(cif.find("12.500"), 6, "1e300");
  CHECK(
      structure_error(folder.write("far.cif", cif)).find("a coordinate of N is 1e+300; expected") !=
      std::string::npos);
}

namespace {

// The mmCIF text with this column renamed, so that no reader finds it.
std::string without_column(std::string cif, const std::string& column) {
  const std::string tag = "_atom_site." + column + "\n";
  const std::size_t at = cif.find(tag);
  REQUIRE(at != std::string::npos);
  return cif.replace(at, tag.size(), "_atom_site.my_" + column + "\n");
}

}  // namespace

TEST_CASE("structure.read_structure: mmCIF without optional columns", "[structure]") {
  const test::Folder folder;
  const std::string cif = as_mmcif(slurp(kEdited));
  const structure::Structure expected = structure::read_structure(kEdited);
  for (const char* const column : {"id", "type_symbol", "label_entity_id", "occupancy",
                                   "B_iso_or_equiv", "label_asym_id", "label_seq_id"})
    check_same(structure::read_structure(folder.write("a.cif", without_column(cif, column))),
               expected);
  // Numbers of the label where the author gives none, in a column or in a row; chains as well.
  std::string label = cif;
  label.replace(label.find("label_seq_id"), 12, "swap");
  label.replace(label.find("auth_seq_id"), 11, "label_seq_id");
  label.replace(label.find("auth_asym_id"), 12, "my_asym_id");
  label.replace(label.find("label_asym_id"), 13, "auth_asym_id");
  label.replace(label.find("my_asym_id"), 10, "label_asym_id");
  const structure::Structure chain_z = structure::read_structure(folder.write("b.cif", label));
  REQUIRE(chain_z.chains.size() == 1);
  CHECK(chain_z.chains[0].name == "Z");
  const std::string path = folder.write("c.cif", without_column(cif, "Cartn_y"));
  CHECK(structure_error(path) == path + ": _atom_site has no column Cartn_y");
  const std::string none = folder.write("d.cif", without_column(cif, "auth_seq_id"));
  CHECK(structure_error(none).find("a residue has no number") != std::string::npos);
}

TEST_CASE("structure.read_structure: mmCIF in quotes and in a second block", "[structure]") {
  const test::Folder folder;
  const std::string cif = as_mmcif(slurp(kEdited));
  const std::size_t rows = cif.find("\nATOM") + 1;
  std::string in_quotes = cif.substr(0, rows);
  bool is_inside = false;
  for (const char c : cif.substr(rows)) {
    const bool is_blank = c == ' ' || c == '\n';
    if (is_blank == is_inside && c != '#') in_quotes += '"';
    is_inside = !is_blank && (is_inside || c != '#');
    in_quotes += c;
  }
  // Null values in quotes would be texts.
  for (std::size_t at; (at = in_quotes.find("\".\"")) != std::string::npos;)
    in_quotes.erase(at + 2, 1).erase(at, 1);
  const structure::Structure expected = structure::read_structure(kEdited);
  check_same(structure::read_structure(folder.write("a.cif", in_quotes)), expected);
  check_same(
      structure::read_structure(folder.write("b.cif", "data_first\n_entry.id first\n" + cif)),
      expected);
  const std::string two = folder.write("two.cif", cif + "data_y" + cif.substr(6));
  CHECK(structure_error(two) == two + ": has atoms in two data blocks, 'x' and 'y'; expected one");
  const std::string none = folder.write("none.cif", "data_first\n_entry.id first\n");
  CHECK(structure_error(none) == none + ": has no table _atom_site");
  std::string odd = as_mmcif(residue("ATOM  ", "GLY", 'A', 1));
  odd.replace(odd.find(" 1 A 1\n"), 2, " 1x");
  const std::string bad = folder.write("bad.cif", odd);
  CHECK(structure_error(bad) == bad + ": _atom_site.auth_seq_id: '1x' is no whole number");
}

TEST_CASE("structure.read_structure: a byte order mark is no text", "[structure]") {
  const test::Folder folder;
  const std::string mark = "\xef\xbb\xbf", one = residue("ATOM  ", "TRP", 'A', 3);
  CHECK(structure::read_structure(folder.write("a.pdb", mark + one)).chains[0].sequence == "W");
  CHECK(structure::read_structure(folder.write("a.cif", mark + as_mmcif(one))).size() == 1);
}

TEST_CASE("structure.read_structure: files are named as what they are", "[structure]") {
  const test::Folder folder;
  const std::string xz = folder.write("a.pdb", std::string("\xfd") + "7zXZ" + std::string(9, '\0'));
  CHECK(structure_error(xz) == xz + ": is compressed with xz; expected gzip, BGZF or plain text");
  const std::string pointer =
      folder.write("b.cif", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
  CHECK(structure_error(pointer).find("is a pointer of Git LFS") != std::string::npos);
}

TEST_CASE("structure.read_structure: nucleotides and water are told", "[structure]") {
  const test::Folder folder;
  std::string text = residue("ATOM  ", "GLY", 'A', 1);
  const char* const kAtom = "ATOM     99  {:3} {:>3} {}{:4}      {:6.3f}   7.000   8.000\n";
  text += fmt::format(fmt::runtime(kAtom), "P", "DG", 'B', 1, 1.5);
  text += fmt::format(fmt::runtime(kAtom), "O", "HOH", 'A', 2, 2.5);
  text += fmt::format(fmt::runtime(kAtom), "CA", "UNK", 'A', 3, 3.5);
  const structure::Structure read = structure::read_structure(folder.write("a.pdb", text));
  CHECK(read.unknown == std::set<std::string>{"DG", "HOH"});
  CHECK(read.chains[0].sequence == "GXX");
}
