#include "lib/bio/molecule/molecule_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lib/io/input/input_suffix.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::array<std::pair<std::string_view, MoleculeFormat>, 7> kSuffixes{
    {{".xyz", MoleculeFormat::xyz},
     {".extxyz", MoleculeFormat::xyz},
     {".pdb", MoleculeFormat::pdb},
     {".ent", MoleculeFormat::pdb},
     {".sdf", MoleculeFormat::sdf},
     {".sd", MoleculeFormat::sdf},
     {".mol", MoleculeFormat::sdf}}};

}  // namespace

std::optional<MoleculeFormat> find_molecule_format(const std::string& path) {
  const std::string suffix = io::input::suffix_of_input(path);
  const auto found = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                  [&](const auto& known) { return known.first == suffix; });
  return found == kSuffixes.end() ? std::nullopt : std::optional(found->second);
}

bool MoleculeReader::next(Molecule& molecule) {
  molecule = {};
  ++number_;
  is_whole_ = is_bad_ = false;
  if (!read(molecule)) {
    --number_;
    return false;
  }
  is_whole_ = true;
  check_molecule(molecule, place());
  return true;
}

bool MoleculeReader::recover() { return is_whole_ || (is_bad_ && skip_rest()); }

std::string MoleculeReader::place() const { return fmt::format("{}: frame {}", label_, number_); }

void MoleculeReader::fail(const std::string& what, std::uint64_t line) const {
  is_bad_ = true;
  const std::string where = line == 0 ? place() : fmt::format("{} (line {})", place(), line);
  throw Error(ErrorCode::bad_input, where + ": " + what);
}

std::unique_ptr<MoleculeReader> open_molecules(const std::string& path, MoleculeFormat format) {
  switch (format) {
    case MoleculeFormat::pdb:
      return open_pdb(path);
    case MoleculeFormat::sdf:
      return open_sdf(path);
    case MoleculeFormat::xyz:
      break;
  }
  return open_xyz(path);
}

std::unique_ptr<MoleculeReader> open_molecules(const std::string& path) {
  if (path == "-") return open_xyz(path);
  const auto format = find_molecule_format(path);
  if (!format)
    throw Error(ErrorCode::bad_input,
                io::input::label_of(path) +
                    ": no format by its suffix; expected .xyz, .extxyz, .pdb, .ent, .sdf or .mol, "
                    "perhaps .gz");
  return open_molecules(path, *format);
}

}  // namespace biogpu::molecule
