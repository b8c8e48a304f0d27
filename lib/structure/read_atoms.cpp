// Atoms of PDB files for models of molecules. As read_structure.cpp it sees gemmi.
#include "lib/structure/atoms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gemmi/pdb.hpp>
#include <string_view>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/structure/pdb_text.hpp"
#include "lib/structure/structure_text.hpp"

namespace biogpu::structure {
namespace {

// Columns of a, b, c, alpha, beta, gamma in a line of CRYST1.
constexpr std::array<std::array<std::size_t, 2>, 6> kCellColumns{
    {{6, 9}, {15, 9}, {24, 9}, {33, 7}, {40, 7}, {47, 7}}};

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \r") + 1 - begin);
}

std::string cell_field(std::string_view line, std::size_t field) {
  const auto [first, n] = kCellColumns[field];
  return std::string(first < line.size() ? line.substr(first, n) : std::string_view());
}

[[noreturn]] void throw_bad_cell(const std::string& path, std::string_view line,
                                 std::size_t field) {
  throw Error(ErrorCode::bad_input, path + ": CRYST1: " + biogpu::quoted(cell_field(line, field)) +
                                        (field < 3 ? " is no length" : " is no angle"));
}

// From 0; angles may be missing where lengths are.
double cell_number(const std::string& path, std::string_view line, std::size_t field) {
  const std::string text = cell_field(line, field);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  while (*end == ' ' || *end == '\r') ++end;
  const double most = field < 3 ? 1e6 : 180;
  if (end == text.c_str() || *end != '\0' || !(value >= 0 && value <= most))
    throw_bad_cell(path, line, field);
  return value;
}

// What a line of CRYST1 says.
struct Cell {
  std::optional<std::array<double, 9>> box;
  std::string other_space_group;
};

Cell read_cell(const std::string& path, std::string_view line) {
  std::array<double, 6> cell{};
  for (std::size_t i = 0; i < 3; ++i) cell[i] = cell_number(path, line, i);
  if (cell[0] == 0 && cell[1] == 0 && cell[2] == 0) return {};
  for (std::size_t i = 0; i < 6; ++i) {
    if (i > 2) cell[i] = cell_number(path, line, i);
    if (cell[i] == 0) throw_bad_cell(path, line, i);
  }
  if (cell[0] == 1 && cell[1] == 1 && cell[2] == 1) return {};
  const std::string_view group =
      line.size() > 55 ? without_blanks(line.substr(55, 11)) : std::string_view();
  if (!group.empty() && group != "P 1" && group != "P1") return {{}, std::string(group)};
  gemmi::UnitCell unit;
  unit.set(cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]);
  Cell read;
  read.box.emplace();
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t d = 0; d < 3; ++d)
      (*read.box)[3 * row + d] = unit.orth.mat.a[d][row];  // columns are the vectors
  return read;
}

// Ends models where END stands alone, as gemmi knows only ENDMDL, and reads the cell of each model.
// A file with one cell behind its atoms has it for all.
std::vector<Cell> split_models(const std::string& path, std::string& text) {
  std::string split;
  std::vector<Cell> cells;
  std::optional<Cell> last;
  bool in_model = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.size(), rest.find('\n'));
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    const bool is_atom = begins(line, "ATOM") || begins(line, "HETATM");
    if (is_atom && !in_model) cells.push_back(last.value_or(Cell()));
    if (begins(line, "CRYST1")) {
      const bool is_first = !last.has_value();
      last = read_cell(path, line);
      if (is_first) std::fill(cells.begin(), cells.end(), *last);
    }
    const bool ends = without_blanks(line) == "END" || begins(line, "ENDMDL");
    in_model = is_atom || (in_model && !ends && !begins(line, "MODEL"));
    split += ends || (begins(line, "MODEL") && !cells.empty()) ? "ENDMDL" : line;
    split += '\n';
  }
  if (!text.empty() && text.back() != '\n') split.pop_back();
  text = std::move(split);
  return cells;
}

// location: of alternative ones the first that the residue's number has; set where it is not.
void add_atoms(const gemmi::Residue& residue, char& location, AtomModel& model,
               std::int32_t& charge, bool& has_charge) {
  for (const gemmi::Atom& atom : residue.atoms) {
    if (atom.altloc != '\0') {
      if (location == '\0') location = atom.altloc;
      if (atom.altloc != location) continue;
    }
    model.symbols.emplace_back(atom.element == gemmi::El::X ? "" : atom.element.name());
    for (const double x : {atom.pos.x, atom.pos.y, atom.pos.z}) model.positions.push_back(x);
    model.names.push_back(residue.name + " " + residue.seqid.str() + " " + atom.name);
    charge += atom.charge;
    has_charge = has_charge || atom.charge != 0;
  }
}

gemmi::Structure parse_pdb(const std::string& path, std::string& text) {
  try {
    prepare_pdb(path, text);
    return gemmi::read_pdb_from_memory(text.data(), text.size(), path);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    std::string what = error.what();
    what.resize(std::min(what.size(), what.find('\n')));
    throw Error(ErrorCode::bad_input, path + ": " + shortened(what, 200));
  }
}

}  // namespace

std::vector<AtomModel> read_atoms(const std::string& path) {
  std::string text = read_structure_text(path);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return {};
  const std::vector<Cell> cells = split_models(path, text);  // of each model
  const gemmi::Structure parsed = parse_pdb(path, text);
  if (cells.empty()) throw Error(ErrorCode::bad_input, path + ": holds no ATOM or HETATM record");
  std::vector<AtomModel> models;
  for (const gemmi::Model& from : parsed.models) {
    AtomModel& model = models.emplace_back();
    if (models.size() <= cells.size()) {
      model.box = cells[models.size() - 1].box;
      model.other_space_group = cells[models.size() - 1].other_space_group;
    }
    std::int32_t charge = 0;
    bool has_charge = false;
    for (const gemmi::Chain& chain : from.chains) {
      const gemmi::Residue* last = nullptr;
      char location = '\0';
      for (const gemmi::Residue& residue : chain.residues) {
        // Two residues that take turns at one place have one number and different locations.
        if (last == nullptr || !(last->seqid == residue.seqid)) location = '\0';
        add_atoms(residue, location, model, charge, has_charge);
        last = &residue;
      }
    }
    if (has_charge) model.charge = charge;
  }
  return models;
}

}  // namespace biogpu::structure
