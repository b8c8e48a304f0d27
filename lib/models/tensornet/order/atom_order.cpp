#include "lib/models/tensornet/order/atom_order.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/models/tensornet/order/curve.hpp"

namespace biogpu::models::tensornet {
namespace {

using Order = std::vector<std::int32_t>;

// Rows of `width` values, by atom. Empty stays empty.
template <class T>
std::vector<T> in_order(const std::vector<T>& values, const Order& order, std::size_t width) {
  std::vector<T> to(values.size());
  if (values.empty()) return to;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t k = 0; k < width; ++k)
      to[width * i + k] = values[width * static_cast<std::size_t>(order[i]) + k];
  return to;
}

void back(std::vector<double>& values, const Order& order, std::size_t width) {
  const std::vector<double> from = values;
  if (values.empty()) return;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t k = 0; k < width; ++k)
      values[width * static_cast<std::size_t>(order[i]) + k] = from[width * i + k];
}

// Pairs of the atoms in their order, sorted as those of find_pairs().
PairList pairs_in_order(const PairList& pairs, const Order& order) {
  const std::size_t n = order.size();
  Order places(n);
  for (std::size_t i = 0; i < n; ++i)
    places[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  PairList to;
  to.radius = pairs.radius;
  to.starts.push_back(0);
  for (const std::int32_t from : order) {
    const auto atom = static_cast<std::size_t>(from);
    to.starts.push_back(to.starts.back() + pairs.starts[atom + 1] - pairs.starts[atom]);
  }
  to.neighbours.resize(pairs.neighbours.size());
  to.shifts.resize(pairs.shifts.size());
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
    const auto atom = static_cast<std::size_t>(order[i]);
    std::vector<std::pair<std::int32_t, ops::BoxShift>> row;
    for (auto p = static_cast<std::size_t>(pairs.starts[atom]);
         p < static_cast<std::size_t>(pairs.starts[atom + 1]); ++p)
      row.emplace_back(places[static_cast<std::size_t>(pairs.neighbours[p])],
                       pairs.shifts.empty() ? ops::BoxShift{} : pairs.shifts[p]);
    std::sort(row.begin(), row.end());
    auto at = static_cast<std::size_t>(to.starts[i]);
    for (const auto& [neighbour, shift] : row) {
      to.neighbours[at] = neighbour;
      if (!to.shifts.empty()) to.shifts[at] = shift;
      ++at;
    }
  });
  return to;
}

}  // namespace

AtomOrder::AtomOrder(std::span<const AtomSystem> systems, const EdgeRule& rule,
                     std::size_t min_atoms)
    : systems_(systems) {
  const auto is_large = [&](const AtomSystem& s) { return s.n_atoms() >= min_atoms; };
  if (std::none_of(systems.begin(), systems.end(), is_large)) return;
  copies_.assign(systems.begin(), systems.end());
  orders_.resize(systems.size());
  pairs_.resize(systems.size());
  for (std::size_t s = 0; s < systems.size(); ++s) {
    if (!is_large(systems[s])) continue;
    AtomSystem& to = copies_[s];
    const Box* const box = to.box.has_value() ? &*to.box : nullptr;
    // Here, where messages have the caller's numbers of atoms.
    if (to.pairs == nullptr)
      require_pairs(to.positions, box, rule.upper);
    else
      check_pairs(systems[s], *to.pairs, rule);
    const Order& order = orders_[s] = curve_order(to.positions, box);
    to.atomic_numbers = in_order(to.atomic_numbers, order, 1);
    to.positions = in_order(to.positions, order, 3);
    to.partial_charges = in_order(to.partial_charges, order, 1);
    if (to.pairs == nullptr) continue;
    pairs_[s] = pairs_in_order(*to.pairs, order);
    to.pairs = &pairs_[s];
  }
  systems_ = copies_;
}

void AtomOrder::restore(std::size_t s, PotentialResult& result) const {
  if (orders_.empty() || orders_[s].empty()) return;
  back(result.forces, orders_[s], 3);
  back(result.atom_energies, orders_[s], 1);
}

}  // namespace biogpu::models::tensornet
