// Atoms of PDB files for models of molecules. As read_structure.cpp it sees gemmi.
#include "lib/structure/atoms.hpp"

#include <cmath>
#include <cstdlib>
#include <gemmi/pdb.hpp>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/structure/pdb_text.hpp"
#include "lib/structure/structure_text.hpp"

namespace biogpu::structure {
namespace {

// Columns of a, b, c, alpha, beta, gamma in a line of CRYST1.
constexpr std::array<std::array<std::size_t, 2>, 6> kCellColumns{
    {{6, 9}, {15, 9}, {24, 9}, {33, 7}, {40, 7}, {47, 7}}};

double cell_number(const std::string& path, std::string_view line, std::size_t field) {
  const auto [first, n] = kCellColumns[field];
  const std::string text(first < line.size() ? line.substr(first, n) : std::string_view());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  while (*end == ' ') ++end;
  const double most = field < 3 ? 1e6 : 180;
  if (text.empty() || *end != '\0' || !(value > 0 && value <= most))
    throw Error(ErrorCode::bad_input, path + ": CRYST1: " + biogpu::quoted(text) +
                                          (field < 3 ? " is no length" : " is no angle"));
  return value;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \r") + 1 - begin);
}

std::optional<std::array<double, 9>> read_box(const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find('\n'));
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.substr(0, 6) != "CRYST1") continue;
    const std::string_view group =
        line.size() > 55 ? without_blanks(line.substr(55, 11)) : std::string_view();
    std::array<double, 6> cell{};
    for (std::size_t i = 0; i < 6; ++i) cell[i] = cell_number(path, line, i);
    const bool is_placeholder = cell[0] == 1 && cell[1] == 1 && cell[2] == 1;
    if (is_placeholder || (!group.empty() && group != "P 1" && group != "P1")) return std::nullopt;
    gemmi::UnitCell unit;
    unit.set(cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]);
    std::array<double, 9> box{};
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t d = 0; d < 3; ++d)
        box[3 * row + d] = unit.orth.mat.a[d][row];  // columns are the vectors
    return box;
  }
  return std::nullopt;
}

// location: of alternative ones the first that the residue's number has; set where it is not.
void add_atoms(const gemmi::Residue& residue, char& location, AtomModel& model,
               std::int32_t& charge, bool& has_charge) {
  for (const gemmi::Atom& atom : residue.atoms) {
    if (atom.altloc != '\0') {
      if (location == '\0') location = atom.altloc;
      if (atom.altloc != location) continue;
    }
    // Deuterium is none of the elements that a model tells apart.
    const bool known = atom.element != gemmi::El::X && atom.element != gemmi::El::D;
    model.atomic_numbers.push_back(known ? atom.element.ordinal() : 0);
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

AtomFile read_atoms(const std::string& path) {
  std::string text = read_structure_text(path);
  AtomFile file;
  file.box = read_box(path, text);
  const gemmi::Structure parsed = parse_pdb(path, text);
  for (const gemmi::Model& from : parsed.models) {
    AtomModel& model = file.models.emplace_back();
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
  return file;
}

}  // namespace biogpu::structure
