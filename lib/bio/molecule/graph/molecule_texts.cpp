#include "lib/bio/molecule/graph/molecule_texts.hpp"

#include <fmt/format.h>

#include "lib/bio/molecule/fields.hpp"
#include "lib/core/error.hpp"
#include "lib/io/input/input_suffix.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::string_view kMol2Begin = "@<TRIPOS>MOLECULE";

GraphFormat require_format(const std::string& path) {
  if (path == "-") return GraphFormat::sdf;
  const auto format = find_graph_format(path);
  if (!format)
    throw Error(ErrorCode::bad_input,
                io::input::label_of(path) +
                    ": no format by its suffix; expected .sdf, .sd, .mol or .mol2, perhaps .gz");
  return *format;
}

}  // namespace

std::optional<GraphFormat> find_graph_format(const std::string& path) {
  const std::string suffix = io::input::suffix_of_input(path);
  if (suffix == ".sdf" || suffix == ".sd" || suffix == ".mol") return GraphFormat::sdf;
  if (suffix == ".mol2") return GraphFormat::mol2;
  return std::nullopt;
}

MoleculeTexts::MoleculeTexts(const std::string& path) : MoleculeTexts(path, require_format(path)) {}

MoleculeTexts::MoleculeTexts(const std::string& path, GraphFormat format)
    : format_(format), lines_(path, format == GraphFormat::mol2 ? "MOL2" : "SDF") {}

void MoleculeTexts::append_line(MoleculeText& molecule) {
  if (!molecule.error.empty()) return;
  if (molecule.text.size() + line_.size() >= kMaxBytes) {
    molecule.text = {};
    molecule.error = fmt::format("has more than {} MiB", kMaxBytes >> 20);
    return;
  }
  molecule.text += line_;
  molecule.text += '\n';
}

// Up to the line $$$$; what is behind M  END is data of a molecule. Blank lines at the end of the
// file are no molecule.
bool MoleculeTexts::next_sdf(MoleculeText& molecule) {
  bool is_blank = true, has_ended = false;
  while (lines_.next(line_)) {
    if (line_.starts_with("$$$$")) return true;
    is_blank = is_blank && trimmed(line_).empty();
    if (!has_ended) append_line(molecule);
    has_ended = has_ended || line_.starts_with("M  END");
  }
  return !is_blank;
}

// Up to the next line @<TRIPOS>MOLECULE; comments before the first one are left out.
bool MoleculeTexts::next_mol2(MoleculeText& molecule) {
  while (!has_line_) {
    if (!lines_.next(line_)) return false;
    has_line_ = line_.starts_with(kMol2Begin);
    if (!has_line_ && !trimmed(line_).empty() && !line_.starts_with('#')) {
      molecule.error =
          fmt::format("line {} is none of MOL2; expected {}", lines_.number(), kMol2Begin);
      while (!has_line_ && lines_.next(line_)) has_line_ = line_.starts_with(kMol2Begin);
      return true;
    }
  }
  append_line(molecule);
  has_line_ = false;
  while (lines_.next(line_)) {
    if (line_.starts_with(kMol2Begin)) return has_line_ = true;
    append_line(molecule);
  }
  return true;
}

bool MoleculeTexts::next(MoleculeText& molecule) {
  molecule = {};
  molecule.format = format_;
  if (!(format_ == GraphFormat::mol2 ? next_mol2(molecule) : next_sdf(molecule))) return false;
  molecule.place = fmt::format("{}: molecule {}", lines_.label(), ++number_);
  return true;
}

}  // namespace biogpu::molecule
