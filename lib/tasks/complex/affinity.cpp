#include "lib/tasks/complex/affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/structure/residues.hpp"

namespace biogpu::tasks {
namespace {

using models::DualBind;
using models::dualbind::Complex;
using models::dualbind::Protein;

// Eigenvalues that are closer than this part of the largest: axes may turn by 1e-4 with the last
// bits of coordinates, and the energy's last digits with them.
constexpr double kNearlyEqual = 1e-3;

constexpr std::string_view kNoNearPair = "no_near_pair";

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

bool has_equal_axes(const std::array<double, 3>& eigenvalues) {
  const double gap = kNearlyEqual * eigenvalues[2];
  return eigenvalues[1] - eigenvalues[0] < gap || eigenvalues[2] - eigenvalues[1] < gap;
}

std::string warnings_of(const AffinityNames& names, const Complex& complex,
                        const DualBind::Result& result) {
  std::vector<std::string> words;
  if (!names.warning.empty()) words.push_back(names.warning);
  if (complex.pocket.n_without_alpha > 0)
    words.push_back(fmt::format("residues_at_origin={}", complex.pocket.n_without_alpha));
  if (const std::size_t n = complex.ligand.n_atoms() - complex.ligand_tokens.size(); n > 0)
    words.push_back(fmt::format("ligand_atoms_at_origin={}", n));
  if (has_equal_axes(result.eigenvalues)) words.emplace_back("nearly_equal_axes");
  if (std::all_of(result.energies.begin(), result.energies.end(), [](double e) { return e == 0; }))
    words.emplace_back(kNoNearPair);
  return words.empty() ? "." : fmt::format("{}", fmt::join(words, ";"));
}

}  // namespace

std::shared_ptr<ProteinCache::Entry> ProteinCache::find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(path);
  if (found != known_.end()) {
    order_.splice(order_.begin(), order_, found->second.place);
    return found->second.entry;
  }
  order_.push_front(path);
  const auto entry = std::make_shared<Entry>();
  known_.emplace(path, Known{entry, order_.begin()});
  if (order_.size() > n_kept_) {
    known_.erase(order_.back());
    order_.pop_back();
  }
  return entry;
}

std::shared_ptr<const Protein> ProteinCache::get(const std::string& path) {
  const std::shared_ptr<Entry> entry = find(path);
  const std::lock_guard lock(entry->reading);
  if (entry->protein == nullptr) {
    auto protein =
        std::make_shared<Protein>(models::dualbind::make_protein(structure::read_residues(path)));
    if (protein->kinds.empty())
      throw Error(ErrorCode::bad_input, path + ": holds no atom of an amino acid");
    entry->protein = std::move(protein);
  }
  return entry->protein;
}

std::vector<DualBind::Result> compute_affinities(
    DualBind& model, std::span<const Complex> complexes,
    const std::function<std::string(std::size_t i)>& place) {
  try {
    return model.compute(complexes);
  } catch (const Error& error) {
    const bool is_short =
        error.code() == ErrorCode::device_memory || error.code() == ErrorCode::host_memory;
    if (complexes.size() == 1)
      throw Error(error.code(), fmt::format("{}: {}", place(0), error.what()));
    if (!is_short) throw;
  }
  const std::size_t half = complexes.size() / 2;
  auto results = compute_affinities(model, complexes.first(half), place);
  auto rest = compute_affinities(model, complexes.subspan(half),
                                 [&](std::size_t i) { return place(half + i); });
  std::move(rest.begin(), rest.end(), std::back_inserter(results));
  return results;
}

std::string affinity_header(bool is_ensemble) {
  return fmt::format(
      "protein\tligand\taffinity_kcal_mol\t{}n_ligand_atoms\tn_pocket_atoms\twarning\n",
      is_ensemble ? "affinity_sd\t" : "");
}

void append_affinity_line(std::string& text, const AffinityNames& names, const Complex& complex,
                          const DualBind::Result& result, const std::string& place) {
  if (!std::all_of(result.energies.begin(), result.energies.end(),
                   [](double energy) { return std::isfinite(energy); }))
    throw Error(ErrorCode::failed,
                place + ": the affinity is NaN or infinite; look at the weights and the positions");
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\t{}\t{:.6f}", io::as_field(names.protein), io::as_field(names.ligand),
                 mean_of(result.energies));
  if (result.energies.size() > 1) fmt::format_to(out, "\t{:.6f}", deviation_of(result.energies));
  fmt::format_to(out, "\t{}\t{}\t{}\n", complex.ligand.n_atoms(), complex.pocket.kinds.size(),
                 warnings_of(names, complex, result));
}

std::uint64_t count_far(std::string_view lines) {
  std::uint64_t n = 0;
  for (std::size_t end = 0; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1))
    n += lines.substr(0, end).ends_with(kNoNearPair) ? 1 : 0;  // the last of the words
  return n;
}

}  // namespace biogpu::tasks
