#include "lib/models/tensornet/pair_terms/pair_term.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "lib/core/error.hpp"

namespace biogpu::models::tensornet {
namespace {

// What an atom's pairs give.
struct Row {
  double energy = 0;
  std::array<double, 3> force{};
  std::array<double, 9> virial{};
};

using Shift = std::array<std::int32_t, 3>;

Shift shift_of(const PairList& pairs, std::size_t p) {
  return pairs.shifts.empty() ? Shift{} : pairs.shifts[p];
}

// Whether pair p of atom i is in the row of the neighbour too: rows are sorted.
bool has_reverse(const PairList& pairs, std::size_t i, std::size_t p) {
  const auto j = static_cast<std::size_t>(pairs.neighbours[p]);
  const Shift shift = shift_of(pairs, p);
  const std::tuple<std::int32_t, Shift> wanted{static_cast<std::int32_t>(i),
                                               {-shift[0], -shift[1], -shift[2]}};
  auto begin = static_cast<std::size_t>(pairs.starts[j]);
  const auto end = static_cast<std::size_t>(pairs.starts[j + 1]);
  const auto order = [&](std::size_t at) {
    return std::tuple<std::int32_t, Shift>{pairs.neighbours[at], shift_of(pairs, at)};
  };
  for (std::size_t n = end - begin; n > 0;) {
    const std::size_t half = n / 2;
    const bool is_before = order(begin + half) < wanted;
    begin += is_before ? half + 1 : 0;
    n = is_before ? n - half - 1 : half;
  }
  return begin < end && order(begin) == wanted;
}

Row row_of(const PairTerm& term, const AtomSystem& system, const std::vector<std::int32_t>& types,
           const PairList& pairs, std::size_t i) {
  const Box* const box = system.box.has_value() ? &*system.box : nullptr;
  const auto [lower, upper] = term.range();
  Row row;
  for (auto p = static_cast<std::size_t>(pairs.starts[i]);
       p < static_cast<std::size_t>(pairs.starts[i + 1]); ++p) {
    const auto j = static_cast<std::size_t>(pairs.neighbours[p]);
    const std::array<double, 3> r = displacement_of(
        system.positions.data() + 3 * i, system.positions.data() + 3 * j, shift_of(pairs, p), box);
    const double squares = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (!(squares >= lower * lower && squares < upper * upper)) continue;
    if (system.pairs != nullptr && !has_reverse(pairs, i, p))
      throw Error(ErrorCode::bad_input, "a list of pairs has a pair one way round alone");
    const double distance = std::sqrt(squares);
    const PairTerm::Value value = term.value_of(types[i], types[j], distance);
    row.energy += 0.5 * value.energy;
    for (std::size_t k = 0; k < 3; ++k) {
      const double gradient = value.slope * r[k] / distance;
      row.force[k] -= gradient;
      for (std::size_t l = 0; l < 3; ++l) row.virial[3 * l + k] += 0.5 * r[l] * gradient;
    }
  }
  return row;
}

}  // namespace

void add_pair_term(const PairTerm& term, const AtomSystem& system,
                   const std::vector<std::int32_t>& types, const PotentialModel::Request& request,
                   PotentialResult& result) {
  PairList found;
  if (system.pairs == nullptr)
    found = find_pairs(system.positions, system.box.has_value() ? &*system.box : nullptr,
                       term.range().upper);
  const PairList& pairs = system.pairs == nullptr ? found : *system.pairs;
  if (pairs.radius < term.range().upper)
    throw Error(ErrorCode::bad_input, "a list of pairs is of a smaller cutoff");
  for (std::size_t i = 0; i < system.n_atoms(); ++i) {
    const Row row = row_of(term, system, types, pairs, i);
    result.energy += row.energy;
    if (request.atom_energies) result.atom_energies[i] += row.energy;
    for (std::size_t k = 0; request.forces && k < 3; ++k) result.forces[3 * i + k] += row.force[k];
    for (std::size_t k = 0; request.virial && k < 9; ++k) result.virial[k] += row.virial[k];
  }
}

}  // namespace biogpu::models::tensornet
