// Plain and extended xyz.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/bio/molecule/extxyz_comment.hpp"
#include "lib/bio/molecule/fields.hpp"
#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::molecule {
namespace {

// Where in a line of an atom its fields are.
struct AtomColumns {
  std::size_t element = 0;
  bool by_number = false;  // the column Z
  std::size_t position = 1;
  std::optional<std::size_t> velocity, partial_charge;
  std::size_t n_required = 4;
};

class XyzReader : public MoleculeReader {
 public:
  using NextLine = std::function<bool(std::string& line)>;  // false at the end
  XyzReader(std::string label, NextLine next_line)
      : MoleculeReader(std::move(label)), next_line_(std::move(next_line)) {}

 private:
  bool read(Molecule& molecule) override;
  bool skip_rest() override;
  AtomColumns read_comment(Molecule& molecule);
  AtomColumns columns_of(const std::string& properties);
  void read_box(const std::string& text, Molecule& molecule);
  void read_atom(const AtomColumns& columns, Molecule& molecule);
  std::int32_t element_of(std::string_view field, bool by_number) const;
  bool next_line() {
    const bool is_there = next_line_(line_);
    number_of_line_ += is_there;
    return is_there;
  }
  [[noreturn]] void fail_here(const std::string& what) const { fail(what, number_of_line_); }

  NextLine next_line_;
  std::string line_;
  std::uint64_t number_of_line_ = 0;
  std::int64_t n_atoms_left_ = -1;  // of the molecule; -1 where their number is not known
};

bool XyzReader::skip_rest() {
  if (n_atoms_left_ < 0) return false;
  while (n_atoms_left_ > 0 && next_line()) --n_atoms_left_;
  return true;
}

bool XyzReader::read(Molecule& molecule) {
  n_atoms_left_ = -1;
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
  return true;
}

// Any text is a comment of plain xyz; it has to be well formed where it says that it is extended.
AtomColumns XyzReader::read_comment(Molecule& molecule) {
  const bool is_extended =
      line_.find("Properties=") != line_.npos || line_.find("Lattice=") != line_.npos;
  std::optional<CommentPairs> pairs = parse_comment(line_);
  if (!pairs && is_extended) fail_here("the comment has a quote or bracket that does not end");
  if (!pairs) return {};
  AtomColumns columns;
  std::string box, periodic = "T T T";
  for (auto& [key, value] : *pairs) {
    if (key == "Properties") {
      columns = columns_of(value);
    } else if (key == "Lattice") {
      box = value;
    } else if (key == "pbc") {
      periodic = value;
    } else if (key == "charge") {
      const auto charge = parse_number<double>(trimmed(value));
      if (!charge || std::abs(*charge) > 1000 || *charge != std::round(*charge))
        fail_here(fmt::format("charge={} is no whole number", quoted(value)));
      molecule.charge = static_cast<std::int32_t>(*charge);
    } else {
      molecule.info.emplace_back(std::move(key), std::move(value));
    }
  }
  if (box.empty()) return columns;
  std::size_t n_periodic = 0;
  for (const std::string_view field : split_fields(periodic))
    n_periodic += field.starts_with('T') || field.starts_with('t') || field == "1";
  if (n_periodic == 3) read_box(box, molecule);
  if (n_periodic == 1 || n_periodic == 2)
    fail_here(fmt::format("pbc={} is periodic in some directions; expected all or none",
                          quoted(periodic)));
  return columns;
}

void XyzReader::read_box(const std::string& text, Molecule& molecule) {
  const std::vector<std::string_view> fields = split_fields(text);
  std::array<double, 9> box{};
  for (std::size_t i = 0; i < fields.size() && i < box.size(); ++i) {
    const auto value = parse_number<double>(fields[i]);
    if (!value) fail_here(fmt::format("Lattice has {}, which is no number", quoted(fields[i])));
    box[i] = *value;
  }
  if (fields.size() != box.size())
    fail_here(fmt::format("Lattice has {} numbers; expected 9", fields.size()));
  molecule.box = box;
}

AtomColumns XyzReader::columns_of(const std::string& properties) {
  const auto groups = parse_properties(properties);
  if (!groups)
    fail_here(fmt::format("Properties={} is malformed; expected NAME:S|R|I|L:COLUMNS:...",
                          quoted(properties)));
  const auto find = [&](const char* name, char type, std::size_t n) {
    return std::find_if(groups->begin(), groups->end(), [=](const PropertyColumns& group) {
      return group.name == name && group.type == type && group.n == n;
    });
  };
  const auto none = groups->end();
  auto element = find("species", 'S', 1);
  const bool by_number = element == none;
  if (by_number) element = find("Z", 'I', 1);
  const auto position = find("pos", 'R', 3), velocity = find("velocities", 'R', 3),
             partial_charge = find("partial_charges", 'R', 1);
  if (element == none || position == none)
    fail_here(fmt::format("Properties={} has no species:S:1 or no pos:R:3", quoted(properties)));
  AtomColumns columns{element->first, by_number, position->first, {}, {}, 0};
  if (velocity != none) columns.velocity = velocity->first;
  if (partial_charge != none) columns.partial_charge = partial_charge->first;
  columns.n_required = groups->back().first + groups->back().n;
  return columns;
}

std::int32_t XyzReader::element_of(std::string_view field, bool by_number) const {
  const auto number = parse_number<std::int32_t>(field);
  if (number && *number >= 1 && *number <= structure::kMaxAtomicNumber) return *number;
  const std::int32_t found = by_number ? 0 : structure::atomic_number_of(field);
  if (found == 0) fail_here(fmt::format("{} is no element", quoted(field)));
  return found;
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
      const auto value = parse_number<double>(fields[i]);
      if (!value) fail_here(fmt::format("{} {} is no number", what, quoted(fields[i])));
      to.push_back(*value);
    }
  };
  molecule.atomic_numbers.push_back(element_of(fields[columns.element], columns.by_number));
  take(columns.position, 3, "coordinate", molecule.positions);
  if (columns.velocity) take(*columns.velocity, 3, "velocity", molecule.velocities);
  if (columns.partial_charge)
    take(*columns.partial_charge, 1, "partial charge", molecule.partial_charges);
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
