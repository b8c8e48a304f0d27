// As read_structure.cpp it sees gemmi, and is built as C++17 by clang (CMakeLists.txt).
#include "lib/structure/read_mmcif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <gemmi/cif.hpp>
#include <gemmi/mmcif.hpp>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/quote.hpp"
#include "lib/structure/structure_text.hpp"

namespace biogpu::structure {
namespace {

namespace cif = gemmi::cif;

// A column that gemmi is given: the first of these columns of the file that has a value in a row,
// else this text. Without a text it has to be in the file.
struct Column {
  const char* name;
  std::vector<const char*> sources;
  const char* otherwise = nullptr;
  enum { text, real, whole } kind = text;
};

const std::vector<Column>& columns_of_atoms() {
  static const std::vector<Column> kColumns{
      {"group_PDB", {"group_PDB"}, "ATOM"},
      {"type_symbol", {"type_symbol"}, "X"},
      {"label_alt_id", {"label_alt_id"}, "."},
      {"label_asym_id", {"label_asym_id", "auth_asym_id"}, "."},
      {"label_entity_id", {"label_entity_id"}, "?"},
      {"pdbx_PDB_ins_code", {"pdbx_PDB_ins_code"}, "?"},
      {"Cartn_x", {"Cartn_x"}, nullptr, Column::real},
      {"Cartn_y", {"Cartn_y"}, nullptr, Column::real},
      {"Cartn_z", {"Cartn_z"}, nullptr, Column::real},
      {"auth_seq_id", {"auth_seq_id", "label_seq_id"}, nullptr, Column::whole},
      {"auth_comp_id", {"auth_comp_id", "label_comp_id"}, nullptr},
      {"auth_asym_id", {"auth_asym_id", "label_asym_id"}, "."},
      {"auth_atom_id", {"auth_atom_id", "label_atom_id"}, nullptr},
      {"pdbx_PDB_model_num", {"pdbx_PDB_model_num"}, "1"}};
  return kColumns;
}

bool is_null(const std::string& value) { return value == "?" || value == "."; }

// The text of a number, whose quotes are gone. gemmi takes the first digits of a whole number of
// any length into an int.
std::string number_text(const std::string& path, const Column& column, const std::string& value) {
  std::string text = cif::as_string(value);
  std::string_view digits = text;
  digits.remove_prefix(std::min(digits.size(), digits.find_first_not_of(" \t\r\n")));
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) digits.remove_prefix(1);
  const std::size_t n_digits = std::min(digits.size(), digits.find_first_not_of("0123456789"));
  if (n_digits > std::numeric_limits<int>::digits10)
    fail(path, fmt::format("_atom_site: {} is out of range", biogpu::quoted(value)));
  if (column.kind == Column::whole ? n_digits == 0 || n_digits != digits.size()
                                   : std::isnan(cif::as_number(text)))
    fail(path, fmt::format("_atom_site.{}: {} is no {}number", column.name, biogpu::quoted(value),
                           column.kind == Column::whole ? "whole " : ""));
  return text;
}

// The data block with atoms.
cif::Block& find_block(const std::string& path, cif::Document& document) {
  if (document.blocks.empty()) fail(path, "holds no data block");
  cif::Block* found = nullptr;
  for (cif::Block& block : document.blocks) {
    const bool has_atoms =
        std::any_of(block.items.begin(), block.items.end(),
                    [](const cif::Item& item) { return item.has_prefix("_atom_site."); });
    if (!has_atoms) continue;
    if (found != nullptr)
      fail(path, fmt::format("has atoms in two data blocks, {} and {}; expected one",
                             biogpu::quoted(found->name), biogpu::quoted(block.name)));
    found = &block;
  }
  if (found == nullptr) fail(path, "has no table _atom_site");
  return *found;
}

// The column of the new table; sources: those of the file, in the order in which they count.
class ColumnValues {
 public:
  ColumnValues(const std::string& path, cif::Block& block, const Column& column)
      : path_(path), column_(column) {
    for (const char* const source : column.sources) {
      const std::string tag = std::string("_atom_site.") + source;
      cif::Column values = block.find_values(tag);
      if (values.length() > 0) sources_.push_back(values);
    }
    if (sources_.empty() && column.otherwise == nullptr)
      fail(path, fmt::format("_atom_site has no column {}", fmt::join(column.sources, " or ")));
  }

  std::string at(std::size_t row) {
    for (cif::Column& source : sources_) {
      if (row >= static_cast<std::size_t>(source.length())) continue;
      const std::string& value = source.at(static_cast<int>(row));
      if (is_null(value)) continue;
      return column_.kind == Column::text ? value : number_text(path_, column_, value);
    }
    return column_.otherwise == nullptr ? "?" : column_.otherwise;
  }

 private:
  const std::string& path_;
  const Column& column_;
  std::vector<cif::Column> sources_;
};

cif::Loop make_atom_table(const std::string& path, cif::Block& block, Occupancies occupancies) {
  const Column occupancy{"occupancy", {"occupancy"}, "1", Column::real};
  std::vector<ColumnValues> columns;
  cif::Loop loop;
  loop.tags = {"_atom_site.id", "_atom_site.B_iso_or_equiv", "_atom_site.occupancy"};
  std::size_t group_column = 0, number_column = 0;
  for (const Column& column : columns_of_atoms()) {
    if (column.name == std::string_view("group_PDB")) group_column = columns.size();
    if (column.kind == Column::whole) number_column = columns.size();
    columns.emplace_back(path, block, column);
    loop.tags.push_back(std::string("_atom_site.") + column.name);
  }
  ColumnValues occupancy_values(path, block, occupancy);
  const auto n_rows = static_cast<std::size_t>(block.find_values("_atom_site.Cartn_x").length());
  std::vector<std::string> values(columns.size());
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) values[c] = columns[c].at(row);
    // Ligands and water need no number where the author gives none.
    if (is_null(values[number_column]) && cif::as_string(values[group_column]) == "HETATM")
      continue;
    loop.values.insert(loop.values.end(), {std::to_string(row + 1), "0"});
    loop.values.push_back(occupancies == Occupancies::read ? occupancy_values.at(row) : "1");
    for (const std::string& value : values) loop.values.push_back(value);
  }
  return loop;
}

}  // namespace

gemmi::Structure read_mmcif(const std::string& path, const std::string& text,
                            Occupancies occupancies) {
  cif::Document document = cif::read_memory(text.data(), text.size(), path.c_str());
  cif::Block& block = find_block(path, document);
  cif::Block atoms("atoms");
  atoms.items.emplace_back(cif::LoopArg{});
  atoms.items.back().loop = make_atom_table(path, block, occupancies);
  for (cif::Item& item : block.items)
    if (item.has_prefix("_entity.")) atoms.items.push_back(std::move(item));
  return gemmi::make_structure_from_block(atoms);
}

}  // namespace biogpu::structure
