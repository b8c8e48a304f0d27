#include "lib/models/base/potential_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::models {
namespace {

// Closer atoms are at one place: no model knows what to do with their direction.
constexpr double kSamePlace = 1e-3;  // Angstrom

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::bad_input, fmt::format(format, std::forward<Args>(args)...));
}

std::string symbols_of(const std::vector<std::int32_t>& elements) {
  std::vector<std::string> names;
  names.reserve(elements.size());
  for (const std::int32_t element : elements) names.push_back(structure::element_name(element));
  return fmt::format("{}", fmt::join(names, " "));
}

bool all_finite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

// The shortest of ax, by, cz of the box as a lower triangle.
double narrowest(const Box& box) {
  const double a = std::sqrt(box[0] * box[0] + box[1] * box[1] + box[2] * box[2]);
  const double x = box[1] * box[5] - box[2] * box[4], y = box[2] * box[3] - box[0] * box[5],
               z = box[0] * box[4] - box[1] * box[3];
  const double base = std::sqrt(x * x + y * y + z * z);
  return std::min({a, base / a, volume_of(box) / base});
}

void check_box(const Box& box, const PotentialModel::Info& info) {
  if (!info.allows_box) refuse("the model has no periodic boxes: remove the cell");
  if (!all_finite(box)) refuse("a number of the box is not finite");
  if (!(volume_of(box) > 1e-6)) refuse("the box has no volume");
  if (info.images == Images::nearest && narrowest(box) < 2 * info.cutoff)
    refuse("the box is {:.4g} A wide; the model needs at least {:.4g} A, twice its cutoff",
           narrowest(box), 2 * info.cutoff);
}

}  // namespace

void PotentialModel::require_memory(const Forward& forward) const {
  if (max_pass_bytes_ == 0) return;
  const std::size_t bytes = measure_pass(forward);
  if (bytes > max_pass_bytes_)
    throw Error(ErrorCode::host_memory,
                fmt::format("needs {} MB of memory at once; --max-memory allows {}",
                            (bytes >> 20) + 1, max_pass_bytes_ >> 20));
}

void PotentialModel::check(const AtomSystem& system) const {
  const std::size_t n = system.n_atoms();
  if (n == 0) refuse("there are no atoms");
  if (system.positions.size() != 3 * n)
    refuse("{} atoms have {} coordinates", n, system.positions.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t element = system.atomic_numbers[i];
    if (!std::binary_search(info_.elements.begin(), info_.elements.end(), element))
      refuse("atom {} is {}; the model knows {}", i + 1, structure::element_name(element),
             symbols_of(info_.elements));
    if (!all_finite(std::span(system.positions).subspan(3 * i, 3)))
      refuse("a coordinate of atom {} is not finite", i + 1);
  }
  if (info_.needs_charge && !system.total_charge.has_value())
    refuse("the model needs the total charge: give charge= in the file or --charge");
  if (system.total_charge.has_value() && !std::isfinite(*system.total_charge))
    refuse("the total charge is not finite");
  if (info_.needs_partial_charges && system.partial_charges.empty())
    refuse("the model needs partial charges: give the column partial_charges:R:1 of extxyz");
  if (!system.partial_charges.empty() && system.partial_charges.size() != n)
    refuse("{} atoms have {} partial charges", n, system.partial_charges.size());
  if (!all_finite(system.partial_charges)) refuse("a partial charge is not finite");
  const std::optional<Box>& has_box = system.box.has_value() ? system.box : info_.default_box;
  const Box* const box = has_box.has_value() ? &*has_box : nullptr;
  if (box != nullptr) check_box(*box, info_);
  require_density(system.positions, box, info_.cutoff);
  const PairList close = find_pairs(system.positions, box, kSamePlace);
  for (std::size_t i = 0; i < n; ++i)
    if (close.starts[i + 1] > close.starts[i])
      refuse("atoms {} and {} are at one place", i + 1,
             close.neighbours[static_cast<std::size_t>(close.starts[i])] + 1);
}

}  // namespace biogpu::models
