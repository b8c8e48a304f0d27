#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace biogpu::molecule {

// Atoms with their positions: a molecule, a crystal's cell, a frame of a trajectory.
struct Molecule {
  std::string name;                          // of the record, where its format has one
  std::vector<std::int32_t> atomic_numbers;  // [n], from 1
  std::vector<double> positions;             // [n, 3], Angstrom
  std::vector<double> velocities;            // [n, 3], Angstrom/fs; empty where there are none
  std::vector<double> masses;                // [n], dalton; empty: all those of the elements
  std::vector<std::uint8_t> fixed;           // [n, 3], 1: does not move there; empty: all move
  std::vector<double> partial_charges;       // [n], elementary charges; empty where there are none
  std::optional<std::array<double, 9>> box;  // rows a, b, c in Angstrom, periodic in all of them
  std::optional<std::int32_t> charge;        // total, in elementary charges
  // Where no charge is told: what the format says that it is then.
  std::optional<std::int32_t> implied_charge;
  std::string remark;  // of the reader: what of the file has no effect; empty: nothing
  // What else the comment of an extxyz frame has, in its order.
  std::vector<std::pair<std::string, std::string>> info;

  std::size_t n_atoms() const { return atomic_numbers.size(); }
  void add_element(std::int32_t atomic_number);
  // Takes a symbol, also D and T: hydrogen with another mass. False: it is no element.
  bool add_element(std::string_view symbol);
  double mass(std::size_t atom) const;  // dalton
  void set_mass(std::size_t atom, double dalton);
  // Null where the frame does not have the key.
  const std::string* find_info(std::string_view key) const;
};

// |x| of a coordinate at most, in Angstrom: squares of sums of these are far from infinite.
inline constexpr double kMaxCoordinate = 1e6;
// Two atoms that are closer are taken for one atom that is there twice.
inline constexpr double kSamePlace = 1e-3;  // Angstrom

// Throws Error{bad_input}, beginning with place ("water.xyz: frame 3"), for a molecule without
// atoms, a coordinate or a box vector beyond kMaxCoordinate or no number, a box without volume, and
// two atoms at one place, in a box through its walls too.
void check_molecule(const Molecule& molecule, const std::string& place);

}  // namespace biogpu::molecule
