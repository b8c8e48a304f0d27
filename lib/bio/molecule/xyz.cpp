// Plain and extended xyz.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "lib/bio/molecule/extxyz_comment.hpp"
#include "lib/bio/molecule/extxyz_header.hpp"
#include "lib/bio/molecule/fields.hpp"
#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::molecule {
namespace {

constexpr double kMinMass = 1e-3, kMaxMass = 1e6;  // dalton
// Angstrom/fs of the velocity of one dalton with a momentum of 1 in ASE, the root of eV times
// dalton.
constexpr double kAseVelocity = 0.09822694748387532;

class XyzReader : public MoleculeReader {
 public:
  using NextLine = std::function<bool(std::string& line)>;  // false at the end
  XyzReader(std::string label, NextLine next_line)
      : MoleculeReader(std::move(label)), next_line_(std::move(next_line)) {}

 private:
  bool read(Molecule& molecule) override;
  bool skip_rest() override;
  AtomColumns read_comment(Molecule& molecule);
  void read_atom(const AtomColumns& columns, Molecule& molecule);
  void read_element(const AtomColumns& columns, const std::vector<std::string_view>& fields,
                    Molecule& molecule) const;
  void read_qm9_lines();
  bool next_line() {
    const bool is_there = std::exchange(is_put_back_, false) || next_line_(line_);
    number_of_line_ += is_there;
    return is_there;
  }
  void put_back_line() {
    is_put_back_ = true;
    --number_of_line_;
  }
  [[noreturn]] void fail_here(const std::string& what) const { fail(what, number_of_line_); }

  NextLine next_line_;
  std::string line_;
  std::uint64_t number_of_line_ = 0;
  bool is_put_back_ = false;        // line_ comes again
  bool is_qm9_ = false;             // the molecule is one of QM9
  std::int64_t n_atoms_left_ = -1;  // of the molecule; -1 where their number is not known
};

bool XyzReader::skip_rest() {
  if (n_atoms_left_ < 0) return false;
  while (n_atoms_left_ > 0 && next_line()) --n_atoms_left_;
  if (is_qm9_) read_qm9_lines();
  return true;
}

bool XyzReader::read(Molecule& molecule) {
  n_atoms_left_ = -1;
  is_qm9_ = false;
  do {
    if (!next_line()) return false;
  } while (trimmed(line_).empty());
  const auto n = parse_number<std::int64_t>(trimmed(line_));
  if (!n || *n < 1)
    fail_here(fmt::format("{} is no number of atoms; expected one from 1", quoted(trimmed(line_))));
  n_atoms_left_ = *n;
  if (!next_line()) fail_here("cut short behind the number of atoms");
  const AtomColumns columns = read_comment(molecule);
  for (std::int64_t i = 0; i < *n; ++i) {
    if (!next_line()) fail_here(fmt::format("cut short: {} of {} atoms are there", i, *n));
    --n_atoms_left_;
    read_atom(columns, molecule);
  }
  if (is_qm9_) read_qm9_lines();
  return true;
}

AtomColumns XyzReader::read_comment(Molecule& molecule) {
  try {
    FrameHeader header = read_frame_header(line_);
    molecule.box = header.box;
    molecule.charge = header.charge;
    molecule.info = std::move(header.info);
    is_qm9_ = header.is_qm9;
    return header.columns;
  } catch (const Error& error) {
    fail_here(error.what());
  }
}

// A symbol or a number in the column of symbols; in both columns the same element.
void XyzReader::read_element(const AtomColumns& columns,
                             const std::vector<std::string_view>& fields,
                             Molecule& molecule) const {
  const auto number_in = [](std::string_view field) {
    const auto number = parse_number<std::int32_t>(field);
    return number && *number >= 1 && *number <= structure::kMaxAtomicNumber ? *number : 0;
  };
  const auto fail_if = [&](bool is_bad, std::string_view field) {
    if (is_bad) fail_here(fmt::format("{} is no element", quoted(field)));
  };
  if (columns.symbol) {
    const std::string_view field = fields[*columns.symbol];
    const std::int32_t number = number_in(field);
    if (number > 0)
      molecule.add_element(number);
    else
      fail_if(!molecule.add_element(field), field);
  }
  if (!columns.atomic_number) return;
  const std::string_view field = fields[*columns.atomic_number];
  const std::int32_t number = number_in(field);
  fail_if(number == 0, field);
  if (!columns.symbol)
    molecule.add_element(number);
  else if (molecule.atomic_numbers.back() != number)
    fail_here(fmt::format("an atom of species {} with Z {}", quoted(fields[*columns.symbol]),
                          quoted(field)));
}

// Vibrations, SMILES and InChI follow the atoms of a molecule of QM9, unless they were removed.
void XyzReader::read_qm9_lines() {
  if (!next_line()) return;
  if (trimmed(line_).empty() || parse_number<std::int64_t>(trimmed(line_))) return put_back_line();
  n_atoms_left_ = -1;
  for (const char* const what : {"SMILES", "InChI"})
    if (!next_line()) fail_here(fmt::format("cut short; expected the line of {} of QM9", what));
  if (!line_.starts_with("InChI="))
    fail_here(fmt::format("{}; expected the InChI of QM9", quoted(line_)));
  n_atoms_left_ = 0;
}

void XyzReader::read_atom(const AtomColumns& columns, Molecule& molecule) {
  const std::vector<std::string_view> fields = split_fields(line_);
  if (fields.size() < columns.n_required) {
    // No atom, but perhaps the number of atoms of the next frame: where this one ends is not known.
    if (fields.size() <= 1) n_atoms_left_ = -1;
    fail_here(fmt::format("an atom with {} fields; expected {}: the frame may be cut short",
                          fields.size(), columns.n_required));
  }
  const auto take = [&](std::size_t first, std::size_t n, const char* what,
                        std::vector<double>& to) {
    for (std::size_t i = first; i < first + n; ++i) {
      const auto value = parse_real(fields[i]);
      if (!value) fail_here(fmt::format("{} {} is no number", what, quoted(fields[i])));
      to.push_back(*value);
    }
  };
  read_element(columns, fields, molecule);
  take(columns.position, 3, "coordinate", molecule.positions);
  if (columns.mass) {
    molecule.masses.resize(molecule.n_atoms() - 1);  // an isotope has brought its own
    take(*columns.mass, 1, "mass", molecule.masses);
    if (!(molecule.masses.back() >= kMinMass && molecule.masses.back() <= kMaxMass))
      fail_here(fmt::format("mass {}; expected one from {} to {} dalton",
                            quoted(fields[*columns.mass]), kMinMass, kMaxMass));
  }
  if (columns.velocity) take(*columns.velocity, 3, "velocity", molecule.velocities);
  if (columns.momentum) {
    take(*columns.momentum, 3, "momentum", molecule.velocities);
    for (std::size_t i = molecule.velocities.size() - 3; i < molecule.velocities.size(); ++i) {
      molecule.velocities[i] *= kAseVelocity / molecule.mass(molecule.n_atoms() - 1);
      if (!std::isfinite(molecule.velocities[i])) fail_here("a momentum is out of range");
    }
  }
  if (columns.partial_charge)
    take(*columns.partial_charge, 1, "partial charge", molecule.partial_charges);
  for (std::size_t axis = 0; axis < 3 && columns.move_mask; ++axis) {
    const std::string_view field =
        fields[*columns.move_mask + (columns.n_move_mask == 3 ? axis : 0)];
    const auto moves = parse_logical(field);
    if (!moves) fail_here(fmt::format("move_mask {}; expected T or F", quoted(field)));
    molecule.fixed.push_back(*moves ? 0 : 1);
  }
}

}  // namespace

std::unique_ptr<MoleculeReader> open_xyz(const std::string& path) {
  const auto lines = std::make_shared<io::LineReader>(path, "xyz");
  return std::make_unique<XyzReader>(io::input::label_of(path),
                                     [=](std::string& line) { return lines->next(line); });
}

std::unique_ptr<MoleculeReader> read_xyz_text(std::string label, std::string text) {
  return std::make_unique<XyzReader>(
      std::move(label), [text = std::move(text), at = std::size_t{0}](std::string& line) mutable {
        if (at >= text.size()) return false;
        const std::size_t end = std::min(text.size(), text.find('\n', at));
        line.assign(text, at, end - at);
        at = end + 1;
        return true;
      });
}

}  // namespace biogpu::molecule
