#include "lib/bio/molecule/extxyz_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "lib/bio/molecule/extxyz_comment.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::molecule {
namespace {

template <class Numbers>
std::string joined_numbers(const Numbers& numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

// Results of an earlier calculation in the frame that was read: ASE would take them for new ones.
constexpr std::array<std::string_view, 11> kOldResults{
    "energy",       "free_energy",       "stress",      "virial",     "dipole",     "magmom",
    "polarization", "dielectric_tensor", "energy_unit", "force_unit", "stress_unit"};
// And what belongs to velocities that are no more.
constexpr std::array<std::string_view, 4> kOfVelocities{"velocity_unit", "time_fs",
                                                        "kinetic_energy", "temperature_K"};

bool is_replaced(std::string_view key, const Molecule& molecule, const FrameResults& results) {
  return std::find(kOldResults.begin(), kOldResults.end(), key) != kOldResults.end() ||
         (molecule.velocities.empty() &&
          std::find(kOfVelocities.begin(), kOfVelocities.end(), key) != kOfVelocities.end()) ||
         std::any_of(results.pairs.begin(), results.pairs.end(),
                     [&](const auto& pair) { return pair.first == key; });
}

// As ASE writes constraints: none, of atoms, or of their axes.
std::size_t move_mask_columns(const Molecule& molecule) {
  const std::vector<std::uint8_t>& fixed = molecule.fixed;
  if (std::find(fixed.begin(), fixed.end(), 1) == fixed.end()) return 0;
  for (std::size_t i = 0; i < fixed.size(); i += 3)
    if (fixed[i] != fixed[i + 1] || fixed[i] != fixed[i + 2]) return 3;
  return 1;
}

std::string comment_of(const Molecule& molecule, const FrameResults& results) {
  std::string line;
  if (molecule.box) append_pair(line, "Lattice", joined_numbers(*molecule.box));
  std::string properties = "species:S:1:pos:R:3";
  const std::size_t n_move_mask = move_mask_columns(molecule);
  if (n_move_mask > 0) properties += fmt::format(":move_mask:L:{}", n_move_mask);
  if (!molecule.velocities.empty()) properties += ":velocities:R:3";
  if (!molecule.masses.empty()) properties += ":masses:R:1";
  if (!results.forces.empty()) properties += ":forces:R:3";
  if (!molecule.partial_charges.empty()) properties += ":partial_charges:R:1";
  append_pair(line, "Properties", properties);
  append_pair(line, "pbc", molecule.box ? "T T T" : "F F F");
  if (results.energy) append_pair(line, "energy", fmt::format("{}", *results.energy));
  if (results.stress) append_pair(line, "stress", joined_numbers(*results.stress));
  if (molecule.charge) append_pair(line, "charge", fmt::format("{}", *molecule.charge));
  for (const auto& [key, value] : molecule.info)
    if (!is_replaced(key, molecule, results)) append_pair(line, key, value);
  for (const auto& [key, value] : results.pairs) append_pair(line, key, value);
  return line;
}

}  // namespace

void append_extxyz(std::string& text, const Molecule& molecule, const FrameResults& results) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\n{}\n", molecule.n_atoms(), comment_of(molecule, results));
  const std::size_t n_move_mask = move_mask_columns(molecule);
  for (std::size_t i = 0; i < molecule.n_atoms(); ++i) {
    text += structure::element_symbol(molecule.atomic_numbers[i]);
    const auto append = [&](const std::vector<double>& columns, std::size_t width) {
      for (std::size_t k = 0; k < width && !columns.empty(); ++k)
        fmt::format_to(out, " {}", columns[width * i + k]);
    };
    append(molecule.positions, 3);
    for (std::size_t k = 0; k < n_move_mask; ++k) text += molecule.fixed[3 * i + k] ? " F" : " T";
    append(molecule.velocities, 3);
    append(molecule.masses, 1);
    append(results.forces, 3);
    append(molecule.partial_charges, 1);
    text += '\n';
  }
}

}  // namespace biogpu::molecule
