#include "lib/bio/molecule/molecule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/bio/molecule/atomic_mass.hpp"
#include "lib/core/error.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::molecule {
namespace {

using Vector = std::array<double, 3>;

[[noreturn]] void throw_bad_molecule(const std::string& place, const std::string& what) {
  throw Error(ErrorCode::bad_input, place + ": " + what);
}

bool is_in_range(double x) { return std::abs(x) <= kMaxCoordinate; }  // false for NaN

Vector cross(const double* a, const double* b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Rows are what a position is multiplied by to get its fractions of box vectors.
std::array<Vector, 3> reciprocal(const std::array<double, 9>& box) {
  std::array<Vector, 3> rows{cross(&box[3], &box[6]), cross(&box[6], &box[0]),
                             cross(&box[0], &box[3])};
  const double volume = box[0] * rows[0][0] + box[1] * rows[0][1] + box[2] * rows[0][2];
  for (Vector& row : rows)
    for (double& x : row) x /= volume;
  return rows;
}

void check_box(const std::array<double, 9>& box, const std::string& place) {
  if (!std::all_of(box.begin(), box.end(), is_in_range))
    throw_bad_molecule(place, "a box vector that is no number or longer than 1000000 Angstrom");
  const Vector normal = cross(&box[3], &box[6]);
  const double volume = box[0] * normal[0] + box[1] * normal[1] + box[2] * normal[2];
  double lengths = 1;
  for (const std::size_t row : {0u, 3u, 6u})
    lengths *= std::hypot(box[row], box[row + 1], box[row + 2]);
  if (!(std::abs(volume) > 1e-6 * lengths))
    throw_bad_molecule(place, "a box without volume: its vectors lie in one plane");
}

// The same atoms with every one inside the box; those just before a wall are put behind it, so that
// atoms on both sides of it are next to each other.
std::vector<double> wrapped(const Molecule& molecule) {
  std::vector<double> positions = molecule.positions;
  if (!molecule.box) return positions;
  const std::array<double, 9>& box = *molecule.box;
  const std::array<Vector, 3> rows = reciprocal(box);
  for (std::size_t i = 0; i < positions.size(); i += 3) {
    Vector shift{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double fraction = rows[axis][0] * molecule.positions[i] +
                              rows[axis][1] * molecule.positions[i + 1] +
                              rows[axis][2] * molecule.positions[i + 2];
      const double margin =
          2 * kSamePlace * std::hypot(rows[axis][0], rows[axis][1], rows[axis][2]);
      shift[axis] = -std::floor(fraction + margin);
    }
    for (std::size_t d = 0; d < 3; ++d)
      positions[i + d] += shift[0] * box[d] + shift[1] * box[3 + d] + shift[2] * box[6 + d];
  }
  return positions;
}

// Atoms are sorted along a line on which hardly any two are near each other by chance, not even
// those of a crystal.
void check_places(const Molecule& molecule, const std::string& place) {
  const std::vector<double> x = wrapped(molecule);
  constexpr Vector kLine{0.5377, 0.6211, 0.5701};  // of length 1
  std::vector<double> along(molecule.n_atoms());
  for (std::size_t i = 0; i < along.size(); ++i)
    along[i] = kLine[0] * x[3 * i] + kLine[1] * x[3 * i + 1] + kLine[2] * x[3 * i + 2];
  std::vector<std::size_t> order(along.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return along[a] < along[b]; });
  for (std::size_t first = 0; first < order.size(); ++first)
    for (std::size_t second = first + 1; second < order.size(); ++second) {
      const std::size_t i = order[first], j = order[second];
      if (along[j] - along[i] > kSamePlace) break;
      if (std::hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1],
                     x[3 * i + 2] - x[3 * j + 2]) > kSamePlace)
        continue;
      throw_bad_molecule(
          place, fmt::format("atoms {} ({}) and {} ({}) are at one place", std::min(i, j) + 1,
                             structure::element_symbol(molecule.atomic_numbers[std::min(i, j)]),
                             std::max(i, j) + 1,
                             structure::element_symbol(molecule.atomic_numbers[std::max(i, j)])));
    }
}

}  // namespace

const std::string* Molecule::find_info(std::string_view key) const {
  const auto found =
      std::find_if(info.begin(), info.end(), [&](const auto& pair) { return pair.first == key; });
  return found == info.end() ? nullptr : &found->second;
}

void Molecule::add_element(std::int32_t atomic_number) {
  atomic_numbers.push_back(atomic_number);
  if (!masses.empty()) masses.push_back(atomic_mass(atomic_number));
}

bool Molecule::add_element(std::string_view symbol) {
  const std::int32_t hydrogen = symbol == "D" || symbol == "d"   ? 2
                                : symbol == "T" || symbol == "t" ? 3
                                                                 : 0;
  const std::int32_t element = hydrogen > 0 ? 1 : structure::atomic_number_of(symbol);
  if (element == 0) return false;
  add_element(element);
  if (hydrogen > 0) set_mass(n_atoms() - 1, isotope_mass(element, hydrogen));
  return true;
}

void Molecule::set_mass(std::size_t atom, double dalton) {
  if (masses.empty())
    for (const std::int32_t element : atomic_numbers) masses.push_back(atomic_mass(element));
  masses[atom] = dalton;
}

double Molecule::mass(std::size_t atom) const {
  return masses.empty() ? atomic_mass(atomic_numbers[atom]) : masses[atom];
}

void check_molecule(const Molecule& molecule, const std::string& place) {
  if (molecule.n_atoms() == 0) throw_bad_molecule(place, "has no atoms");
  for (std::size_t i = 0; i < molecule.positions.size(); ++i)
    if (!is_in_range(molecule.positions[i]))
      throw_bad_molecule(place, fmt::format("atom {}: a coordinate is {}; expected a number from "
                                            "-1000000 to 1000000",
                                            i / 3 + 1, molecule.positions[i]));
  if (molecule.box) check_box(*molecule.box, place);
  check_places(molecule, place);
}

}  // namespace biogpu::molecule
