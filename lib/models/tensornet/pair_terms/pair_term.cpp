#include "lib/models/tensornet/pair_terms/pair_term.hpp"

#include <tbb/parallel_for.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>

#include "lib/core/error.hpp"
#include "lib/models/tensornet/pair_terms/nearest_image.hpp"

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

// The term with a system's atoms.
class TermRows {
 public:
  // pairs: null where all of them count.
  TermRows(const PairTerm& term, const AtomSystem& system, const std::vector<std::int32_t>& types,
           const PairList* pairs)
      : term_(term), system_(system), types_(types), pairs_(pairs) {
    if (system.box.has_value()) image_.emplace(*system.box);
  }

  Row row_of(std::size_t i) const {
    Row row;
    if (pairs_ != nullptr)
      add_listed(i, row);
    else
      add_all(i, row);
    return row;
  }

 private:
  using Vector = NearestImage::Vector;

  const double* position(std::size_t i) const { return system_.positions.data() + 3 * i; }

  PairTerm::Atom atom(std::size_t i) const {
    return {types_[i], system_.partial_charges.empty() ? 0 : system_.partial_charges[i]};
  }

  void add_listed(std::size_t i, Row& row) const {
    const Box* const box = system_.box.has_value() ? &*system_.box : nullptr;
    const auto [lower, upper] = term_.range();
    for (auto p = static_cast<std::size_t>(pairs_->starts[i]);
         p < static_cast<std::size_t>(pairs_->starts[i + 1]); ++p) {
      const auto j = static_cast<std::size_t>(pairs_->neighbours[p]);
      const Vector r = displacement_of(position(i), position(j), shift_of(*pairs_, p), box);
      const double squares = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
      if (!(squares >= lower * lower && squares < upper * upper)) continue;
      if (system_.pairs != nullptr && !has_reverse(*pairs_, i, p))
        throw Error(ErrorCode::bad_input, "a list of pairs has a pair one way round alone");
      add_pair(i, j, r, std::sqrt(squares), row);
    }
  }

  void add_all(std::size_t i, Row& row) const {
    for (std::size_t j = 0; j < system_.n_atoms(); ++j) {
      if (j == i) continue;
      Vector r = displacement_of(position(i), position(j), {}, nullptr);
      if (image_) r = image_->shortened(r);
      add_pair(i, j, r, std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), row);
    }
  }

  void add_pair(std::size_t i, std::size_t j, const Vector& r, double distance, Row& row) const {
    const PairTerm::Value value = term_.value_of(atom(i), atom(j), distance);
    row.energy += 0.5 * value.energy;
    for (std::size_t k = 0; k < 3; ++k) {
      const double gradient = value.slope * r[k] / distance;
      row.force[k] -= gradient;
      for (std::size_t l = 0; l < 3; ++l) row.virial[3 * l + k] += 0.5 * r[l] * gradient;
    }
  }

  const PairTerm& term_;
  const AtomSystem& system_;
  const std::vector<std::int32_t>& types_;
  const PairList* const pairs_;
  std::optional<NearestImage> image_;
};

std::vector<Row> rows_of(const PairTerm& term, const AtomSystem& system,
                         const std::vector<std::int32_t>& types) {
  PairList found;
  const PairList* pairs = nullptr;
  if (!term.has_all_pairs()) {
    if (system.pairs == nullptr)
      found = find_pairs(system.positions, system.box.has_value() ? &*system.box : nullptr,
                         term.range().upper);
    pairs = system.pairs == nullptr ? &found : system.pairs;
    if (pairs->radius < term.range().upper)
      throw Error(ErrorCode::bad_input, "a list of pairs is of a smaller cutoff");
  }
  const TermRows term_rows(term, system, types, pairs);
  std::vector<Row> rows(system.n_atoms());
  tbb::parallel_for(std::size_t{0}, rows.size(),
                    [&](std::size_t i) { rows[i] = term_rows.row_of(i); });
  return rows;
}

}  // namespace

void add_pair_term(const PairTerm& term, const AtomSystem& system,
                   const std::vector<std::int32_t>& types, const PotentialModel::Request& request,
                   PotentialResult& result) {
  const std::vector<Row> rows = rows_of(term, system, types);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    result.energy += row.energy;
    if (request.atom_energies) result.atom_energies[i] += row.energy;
    for (std::size_t k = 0; request.forces && k < 3; ++k) result.forces[3 * i + k] += row.force[k];
    for (std::size_t k = 0; request.virial && k < 9; ++k) result.virial[k] += row.virial[k];
  }
}

}  // namespace biogpu::models::tensornet
