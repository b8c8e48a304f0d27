// SDF and MOL files: connection tables V2000 and V3000, of which atoms, charges and isotopes are
// read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/bio/molecule/atomic_mass.hpp"
#include "lib/bio/molecule/fields.hpp"
#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::int32_t kMaxCharge = 1000;

bool is_charge(std::int64_t value) { return value >= -kMaxCharge && value <= kMaxCharge; }

// Columns [first, first + n) of a line, without blanks at both ends.
std::string_view columns(std::string_view line, std::size_t first, std::size_t n) {
  return first < line.size() ? trimmed(line.substr(first, n)) : std::string_view();
}

class SdfReader : public MoleculeReader {
 public:
  explicit SdfReader(const std::string& path)
      : MoleculeReader(io::input::label_of(path)), lines_(path, "SDF") {}

 private:
  bool read(Molecule& molecule) override;
  bool skip_rest() override;
  void read_v2000(Molecule& molecule);
  void read_v2000_atom(Molecule& molecule, std::int64_t& charge);
  void check_v2000_bond(const Molecule& molecule);
  void read_properties(Molecule& molecule, std::int64_t charge_of_atoms);
  std::vector<std::pair<std::size_t, std::int32_t>> read_atom_values(const Molecule& molecule,
                                                                     const char* what);
  void set_isotope(std::size_t atom, std::int64_t n_nucleons, Molecule& molecule) const;
  void skip_lines(std::int32_t n);
  void read_v3000(Molecule& molecule);
  void read_v3000_atoms(std::int32_t n_atoms, Molecule& molecule);
  void add_atom(std::string_view symbol, std::string_view const (&coordinates)[3],
                Molecule& molecule);
  void check_dimensions(std::string_view code, const Molecule& molecule);
  std::int32_t count(std::string_view text, const char* what);
  void set_charge(bool is_told, std::int64_t charge, Molecule& molecule);
  void require_line(const char* what);
  std::string next_v3000();
  [[noreturn]] void fail_here(const std::string& what) const { fail(what, lines_.number()); }

  io::LineReader lines_;
  std::string line_;
  bool has_charge_code_ = false;  // an atom of the table V2000 has one
  std::vector<std::pair<std::size_t, std::int32_t>> mass_codes_;  // of atoms of the table V2000
};

bool SdfReader::skip_rest() {
  while (!line_.starts_with("$$$$") && lines_.next(line_)) {
  }
  return true;
}

void SdfReader::require_line(const char* what) {
  if (!lines_.next(line_)) fail_here(fmt::format("cut short; expected {}", what));
}

std::int32_t SdfReader::count(std::string_view text, const char* what) {
  const auto value = parse_number<std::int32_t>(text);
  if (!value || *value < 0) fail_here(fmt::format("{} is no number of {}", quoted(text), what));
  return *value;
}

// A table without charges is that of a neutral molecule, unless the user knows better.
void SdfReader::set_charge(bool is_told, std::int64_t charge, Molecule& molecule) {
  if (!is_charge(charge)) fail_here(fmt::format("a total charge of {}", charge));
  if (is_told)
    molecule.charge = static_cast<std::int32_t>(charge);
  else
    molecule.implied_charge = 0;
}

// A header of three lines, the table, data up to the line $$$$.
bool SdfReader::read(Molecule& molecule) {
  has_charge_code_ = false;
  mass_codes_.clear();
  std::string dimensions;
  bool is_blank = true;
  for (int i = 0; i < 4; ++i) {
    if (!lines_.next(line_)) {
      if (is_blank) return false;  // blank lines at the end
      fail_here(i < 3 ? "cut short in the header" : "cut short; expected the line of counts");
    }
    is_blank = is_blank && trimmed(line_).empty();
    if (i == 0) molecule.name = std::string(trimmed(line_));
    if (i == 1) dimensions = columns(line_, 20, 2);
  }
  while (is_blank) {
    if (!lines_.next(line_)) return false;
    if (!trimmed(line_).empty()) fail_here("a record behind more than three blank lines");
  }
  if (columns(line_, 33, 6) == "V3000")
    read_v3000(molecule);
  else if (columns(line_, 33, 6) == "V2000")
    read_v2000(molecule);
  else
    fail_here(fmt::format("{} ends in no version; expected V2000 or V3000", quoted(line_)));
  check_dimensions(dimensions, molecule);
  while (lines_.next(line_))
    if (line_.starts_with("$$$$")) break;
  return true;
}

// A drawing is no geometry.
void SdfReader::check_dimensions(std::string_view code, const Molecule& molecule) {
  bool flat = code == "2D";
  for (std::size_t i = 2; flat && i < molecule.positions.size(); i += 3)
    flat = molecule.positions[i] == 0;
  if (flat) fail_here("has the coordinates of a drawing (2D); expected those of three dimensions");
}

void SdfReader::add_atom(std::string_view symbol, std::string_view const (&coordinates)[3],
                         Molecule& molecule) {
  if (!molecule.add_element(symbol)) fail_here(fmt::format("{} is no element", quoted(symbol)));
  for (const std::string_view text : coordinates) {
    const auto value = parse_number<double>(text);
    if (!value) fail_here(fmt::format("coordinate {} is no number", quoted(text)));
    molecule.positions.push_back(*value);
  }
}

void SdfReader::read_v2000(Molecule& molecule) {
  const std::string counts = line_;
  const auto optional_count = [&](std::string_view text) {
    return text.empty() ? 0 : count(text, "lines");
  };
  const std::int32_t n_atoms = count(columns(counts, 0, 3), "atoms");
  const std::int32_t n_bonds = count(columns(counts, 3, 3), "bonds");
  std::int64_t charge = 0;
  for (std::int32_t i = 0; i < n_atoms; ++i) {
    require_line("an atom");
    read_v2000_atom(molecule, charge);
  }
  const std::int32_t n_lists = optional_count(columns(counts, 6, 3));
  const std::int32_t n_texts = optional_count(columns(counts, 15, 3));
  for (std::int32_t i = 0; i < n_bonds; ++i) {
    require_line("a bond");
    if (line_.starts_with("M  ") || line_.starts_with("$$$$"))
      fail_here(fmt::format("{} of {} bonds are there", i, n_bonds));
    check_v2000_bond(molecule);
  }
  skip_lines(n_lists);
  skip_lines(2 * n_texts);
  read_properties(molecule, charge);
}

// Bonds are not read, but an atom in the place of one was not counted.
void SdfReader::check_v2000_bond(const Molecule& molecule) {
  for (const std::size_t first : {0u, 3u, 6u}) {
    const auto number = parse_number<std::int32_t>(columns(line_, first, 3));
    const bool is_atom = first < 6;
    if (number && *number >= (is_atom ? 1 : 0) &&
        (!is_atom || static_cast<std::size_t>(*number) <= molecule.n_atoms()))
      continue;
    fail_here(fmt::format("{} is no bond of the {} atoms announced; there may be more atoms",
                          quoted(line_), molecule.n_atoms()));
  }
}

void SdfReader::skip_lines(std::int32_t n) {
  for (; n > 0; --n) {
    require_line("M  END");
    if (line_.starts_with("M  END") || line_.starts_with("$$$$"))
      fail_here(fmt::format("cut short: {} more lines were announced", n));
  }
}

void SdfReader::read_v2000_atom(Molecule& molecule, std::int64_t& charge) {
  if (line_.starts_with("M  ") || line_.starts_with("$$$$"))
    fail_here(fmt::format("{} atoms are there, fewer than were announced", molecule.n_atoms()));
  add_atom(columns(line_, 31, 3),
           {columns(line_, 0, 10), columns(line_, 10, 10), columns(line_, 20, 10)}, molecule);
  const std::string_view mass_code = columns(line_, 34, 2);
  const auto difference = mass_code.empty() ? 0 : parse_number<std::int32_t>(mass_code);
  if (!difference) fail_here(fmt::format("{} is no difference of mass", quoted(mass_code)));
  if (*difference != 0) mass_codes_.emplace_back(molecule.n_atoms() - 1, *difference);
  constexpr std::int32_t kCharges[] = {0, 3, 2, 1, 0, -1, -2, -3};
  const std::string_view code = columns(line_, 36, 3);
  const std::int32_t number = code.empty() ? 0 : count(code, "a charge's code");
  if (number > 7) fail_here(fmt::format("{} is no code of a charge", quoted(code)));
  charge += kCharges[number];
  has_charge_code_ = has_charge_code_ || number > 0;
}

void SdfReader::set_isotope(std::size_t atom, std::int64_t n_nucleons, Molecule& molecule) const {
  const double mass =
      n_nucleons > 0 && n_nucleons < 1000
          ? isotope_mass(molecule.atomic_numbers[atom], static_cast<std::int32_t>(n_nucleons))
          : 0;
  if (mass == 0) fail_here(fmt::format("atom {} has no isotope {}", atom + 1, n_nucleons));
  molecule.set_mass(atom, mass);
}

// M  CHG and M  RAD take the place of all codes of charges in the lines of atoms, M  ISO of those
// of masses, which are differences from the element's weight.
void SdfReader::read_properties(Molecule& molecule, std::int64_t charge_of_atoms) {
  std::int64_t charge = 0;
  bool replaced = false, has_isotopes = false;
  while (true) {
    require_line("M  END");
    if (line_.starts_with("M  END")) break;
    if (line_.starts_with("$$$$")) fail_here("cut short; expected M  END");
    replaced = replaced || line_.starts_with("M  CHG") || line_.starts_with("M  RAD");
    if (line_.starts_with("M  CHG")) {
      for (const auto& [atom, value] : read_atom_values(molecule, "charge")) {
        if (!is_charge(value)) fail_here(fmt::format("'{}' is no charge", value));
        charge += value;
      }
    } else if (line_.starts_with("M  ISO")) {
      has_isotopes = true;
      for (const auto& [atom, value] : read_atom_values(molecule, "isotope"))
        set_isotope(atom, value, molecule);
    } else if (line_.starts_with("A  ") || line_.starts_with("G  ")) {
      skip_lines(1);  // the text of an atom or a group
    } else if (line_.starts_with("S  SKP")) {
      skip_lines(count(trimmed(std::string_view(line_).substr(6)), "lines"));
    } else if (!line_.starts_with("M  ") && !line_.starts_with("V  ") && !trimmed(line_).empty()) {
      fail_here(fmt::format("{} is no property; there may be more atoms or bonds than announced",
                            quoted(line_)));
    }
  }
  for (const auto& [atom, difference] : mass_codes_)
    if (!has_isotopes)
      set_isotope(atom, std::lround(atomic_mass(molecule.atomic_numbers[atom])) + difference,
                  molecule);
  set_charge(replaced || has_charge_code_, replaced ? charge : charge_of_atoms, molecule);
}

// Lines "M  CHG" and "M  ISO": a count, then atoms (from 0 here) with values.
std::vector<std::pair<std::size_t, std::int32_t>> SdfReader::read_atom_values(
    const Molecule& molecule, const char* what) {
  const std::vector<std::string_view> fields = split_fields(std::string_view(line_).substr(6));
  const std::int32_t n = fields.empty() ? -1 : count(fields[0], "values");
  if (n < 0 || fields.size() != 1 + 2 * static_cast<std::size_t>(n))
    fail_here(
        fmt::format("{} is malformed; expected a count, then atoms with {}s", quoted(line_), what));
  std::vector<std::pair<std::size_t, std::int32_t>> values;
  for (std::size_t i = 1; i < fields.size(); i += 2) {
    const std::int32_t atom = count(fields[i], "an atom");
    const auto value = parse_number<std::int32_t>(fields[i + 1]);
    if (atom < 1 || static_cast<std::size_t>(atom) > molecule.n_atoms())
      fail_here(fmt::format("{} of atom {}; there are {}", what, atom, molecule.n_atoms()));
    if (!value) fail_here(fmt::format("{} is no {}", quoted(fields[i + 1]), what));
    values.emplace_back(static_cast<std::size_t>(atom) - 1, *value);
  }
  return values;
}

// The text behind "M  V30 "; a dash at the end goes on in the next line.
std::string SdfReader::next_v3000() {
  std::string text;
  while (true) {
    require_line("M  V30 END CTAB");
    if (!line_.starts_with("M  V30 "))
      fail_here(fmt::format("{}; expected a line of M  V30", quoted(line_)));
    text += std::string_view(line_).substr(7);
    if (text.size() > io::LineReader::kMaxLineBytes) fail_here("a line of M  V30 is too long");
    if (!text.ends_with('-')) return text;
    text.pop_back();
  }
}

void SdfReader::read_v3000(Molecule& molecule) {
  std::int32_t n_atoms = -1;
  bool has_atoms = false;
  while (true) {
    const std::string text = next_v3000();
    const std::vector<std::string_view> words = split_fields(text);
    const auto is = [&](std::string_view first, std::string_view second) {
      return words.size() >= 2 && words[0] == first && words[1] == second;
    };
    if (words.size() >= 2 && words[0] == "COUNTS") {
      n_atoms = count(words[1], "atoms");
    } else if (is("BEGIN", "ATOM")) {
      if (n_atoms < 0 || has_atoms) fail_here("atoms before their number, or twice");
      read_v3000_atoms(n_atoms, molecule);
      has_atoms = true;
    } else if (is("END", "CTAB")) {
      break;
    }
  }
  if (!has_atoms) fail_here("has no block of atoms");
  do {
    require_line("M  END");
  } while (!line_.starts_with("M  END") && !line_.starts_with("$$$$"));
  if (line_.starts_with("$$$$")) fail_here("cut short; expected M  END");
}

void SdfReader::read_v3000_atoms(std::int32_t n_atoms, Molecule& molecule) {
  std::int64_t charge = 0;
  bool is_told = false;
  for (std::int32_t i = 0;; ++i) {
    const std::string text = next_v3000();
    const std::vector<std::string_view> words = split_fields(text);
    if (words.size() >= 2 && words[0] == "END" && words[1] == "ATOM") {
      if (i != n_atoms) fail_here(fmt::format("{} of {} atoms are there", i, n_atoms));
      break;
    }
    if (i == n_atoms) fail_here(fmt::format("more than the {} atoms announced", n_atoms));
    if (words.size() < 6)
      fail_here(
          fmt::format("{} is no atom; expected number, element, x, y, z and map", quoted(text)));
    add_atom(words[1], {words[2], words[3], words[4]}, molecule);
    for (std::size_t word = 6; word < words.size(); ++word) {
      if (words[word].starts_with("MASS=")) {
        const auto nucleons = parse_number<std::int32_t>(words[word].substr(5));
        if (!nucleons) fail_here(fmt::format("{} is no mass number", quoted(words[word])));
        set_isotope(molecule.n_atoms() - 1, *nucleons, molecule);
      }
      if (!words[word].starts_with("CHG=")) continue;
      const auto value = parse_number<std::int32_t>(words[word].substr(4));
      if (!value || !is_charge(*value))
        fail_here(fmt::format("{} is no charge", quoted(words[word])));
      charge += *value;
      is_told = true;
    }
  }
  set_charge(is_told, charge, molecule);
}

}  // namespace

std::unique_ptr<MoleculeReader> open_sdf(const std::string& path) {
  return std::make_unique<SdfReader>(path);
}

}  // namespace biogpu::molecule
