#include "lib/models/tensornet/graph.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "lib/core/error.hpp"

namespace biogpu::models::tensornet {
namespace {

using Shift = std::array<std::int32_t, 3>;

struct Edge {
  std::int32_t neighbour;  // within the system
  Shift shift;
  std::array<double, 3> displacement;
  double distance;

  std::tuple<std::int32_t, Shift> order() const { return {neighbour, shift}; }
};

// The edges of atom i, sorted by neighbour and shift.
std::vector<Edge> edges_of(std::size_t i, const AtomSystem& system, const PairList& pairs,
                           const EdgeRule& rule) {
  const Box* const box = system.box.has_value() ? &*system.box : nullptr;
  std::vector<Edge> edges;
  for (auto p = static_cast<std::size_t>(pairs.starts[i]);
       p < static_cast<std::size_t>(pairs.starts[i + 1]); ++p) {
    const std::int32_t j = pairs.neighbours[p];
    const Shift shift = pairs.shifts.empty() ? Shift{} : pairs.shifts[p];
    const std::array<double, 3> r =
        displacement_of(system.positions.data() + 3 * i,
                        system.positions.data() + 3 * static_cast<std::size_t>(j), shift, box);
    const double squares = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (squares >= rule.lower * rule.lower && squares < rule.upper * rule.upper)
      edges.push_back({j, shift, r, std::sqrt(squares)});
  }
  if (rule.self_edges) {
    const Edge self{static_cast<std::int32_t>(i), {}, {}, 0};
    const auto at =
        std::lower_bound(edges.begin(), edges.end(), self,
                         [](const Edge& a, const Edge& b) { return a.order() < b.order(); });
    edges.insert(at, self);
  }
  return edges;
}

// Shifts whose opposites, and sums with those of other atoms, are 32-bit numbers.
bool is_small(const Shift& shift) {
  constexpr std::int32_t kMax = std::int32_t{1} << 30;
  return std::all_of(shift.begin(), shift.end(),
                     [](std::int32_t n) { return n >= -kMax && n <= kMax; });
}

// Rows without an atom's pair with itself, each entry above the one before: edges_of() and
// reverse_of() search them.
bool has_sorted_rows(const PairList& pairs) {
  using Entry = std::tuple<std::int32_t, Shift>;
  for (std::size_t i = 0; i < pairs.n_atoms(); ++i) {
    const auto begin = static_cast<std::size_t>(pairs.starts[i]);
    Entry before{-1, {}};
    for (std::size_t p = begin; p < static_cast<std::size_t>(pairs.starts[i + 1]); ++p) {
      const Entry entry{pairs.neighbours[p], pairs.shifts.empty() ? Shift{} : pairs.shifts[p]};
      if (!(before < entry) || entry == Entry{static_cast<std::int32_t>(i), {}}) return false;
      before = entry;
    }
  }
  return true;
}

// The edge of a pair the other way round: in the row of the neighbour.
std::size_t reverse_of(const Edge& edge, std::int32_t receiver, const std::vector<Edge>& row) {
  const std::tuple<std::int32_t, Shift> wanted{receiver,
                                               {-edge.shift[0], -edge.shift[1], -edge.shift[2]}};
  const auto found = std::lower_bound(
      row.begin(), row.end(), wanted,
      [](const Edge& a, const std::tuple<std::int32_t, Shift>& b) { return a.order() < b; });
  if (found == row.end() || found->order() != wanted)
    throw Error(ErrorCode::bad_input, "a list of pairs has a pair one way round alone");
  return static_cast<std::size_t>(found - row.begin());
}

}  // namespace

void check_pairs(const AtomSystem& system, const PairList& pairs, const EdgeRule& rule) {
  const auto n = static_cast<std::int32_t>(system.n_atoms());
  const std::size_t n_pairs = pairs.neighbours.size();
  const bool fits = pairs.n_atoms() == system.n_atoms() && pairs.radius >= rule.upper &&
                    pairs.shifts.size() == (system.box.has_value() ? n_pairs : 0) &&
                    std::is_sorted(pairs.starts.begin(), pairs.starts.end()) &&
                    pairs.starts.front() == 0 &&
                    static_cast<std::size_t>(pairs.starts.back()) == n_pairs &&
                    std::all_of(pairs.neighbours.begin(), pairs.neighbours.end(),
                                [&](std::int32_t j) { return j >= 0 && j < n; });
  if (!fits)
    throw Error(ErrorCode::bad_input, "a list of pairs is of other atoms or a smaller cutoff");
  if (!std::all_of(pairs.shifts.begin(), pairs.shifts.end(), is_small))
    throw Error(ErrorCode::bad_input, "a list of pairs has a shift of more than 2^30 boxes");
  if (!has_sorted_rows(pairs))
    throw Error(ErrorCode::bad_input,
                "a list of pairs has an atom's pair with itself, or is not sorted by the neighbour "
                "and its shift");
}

void add_system(const AtomSystem& system, const EdgeRule& rule, Graph& graph) {
  const Box* const box = system.box.has_value() ? &*system.box : nullptr;
  PairList found;
  if (system.pairs == nullptr)
    found = find_pairs(system.positions, box, rule.upper);
  else
    check_pairs(system, *system.pairs, rule);
  const PairList& pairs = system.pairs == nullptr ? found : *system.pairs;
  const std::size_t n = system.n_atoms();
  std::vector<std::vector<Edge>> rows(n);
  tbb::parallel_for(std::size_t{0}, n,
                    [&](std::size_t i) { rows[i] = edges_of(i, system, pairs, rule); });
  std::vector<std::int64_t> starts{graph.n_edges()};
  for (const auto& row : rows)
    starts.push_back(starts.back() + static_cast<std::int64_t>(row.size()));
  if (starts.back() >= std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::bad_input, "more than 2147483646 pairs of atoms within the cutoff");
  const auto first_atom = static_cast<std::int32_t>(graph.n_atoms());
  const auto n_edges = static_cast<std::size_t>(starts.back());
  for (auto* const numbers : {&graph.receivers, &graph.neighbours, &graph.reverse})
    numbers->resize(n_edges);
  graph.displacement.resize(3 * n_edges);
  graph.distance.resize(n_edges);
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
    const auto atom = static_cast<std::int32_t>(i);
    auto at = static_cast<std::size_t>(starts[i]);
    for (const Edge& edge : rows[i]) {
      const auto j = static_cast<std::size_t>(edge.neighbour);
      graph.receivers[at] = first_atom + atom;
      graph.neighbours[at] = first_atom + edge.neighbour;
      graph.reverse[at] = static_cast<std::int32_t>(
          starts[j] + static_cast<std::int64_t>(reverse_of(edge, atom, rows[j])));
      std::copy(edge.displacement.begin(), edge.displacement.end(),
                graph.displacement.begin() + static_cast<std::ptrdiff_t>(3 * at));
      graph.distance[at++] = edge.distance;
    }
  });
  for (std::size_t i = 0; i < n; ++i)
    graph.edge_starts.push_back(static_cast<std::int32_t>(starts[i + 1]));
  graph.atom_starts.push_back(first_atom + static_cast<std::int32_t>(n));
}

}  // namespace biogpu::models::tensornet
