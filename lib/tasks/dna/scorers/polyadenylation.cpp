#include "lib/tasks/dna/scorers/polyadenylation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace biogpu::tasks {
namespace {

constexpr std::int64_t kMaskBases = 400;

double finite_or_zero(double x) { return std::isfinite(x) ? x : 0.0; }

// Whether those of all sites are.
bool has_finite_sums(const std::vector<std::vector<double>>& sums, std::size_t track) {
  return std::all_of(sums.begin(), sums.end(), [track](const std::vector<double>& of_site) {
    return std::isfinite(of_site[track]);
  });
}

}  // namespace

std::vector<PolyaSite> sites_in_window(std::vector<PolyaSite> sites, std::int64_t window) {
  const auto begins_inside = [](const PolyaSite& site) { return site.begin >= 0; };
  const auto ends_inside = [&](const PolyaSite& site) { return site.end < window; };
  // 80 % of them, in whole numbers.
  const auto too_few = [&](std::ptrdiff_t n) { return 10 * n < 8 * std::ssize(sites); };
  if (too_few(std::count_if(sites.begin(), sites.end(), begins_inside)) ||
      too_few(std::count_if(sites.begin(), sites.end(), ends_inside)))
    return {};
  std::erase_if(sites,
                [&](const PolyaSite& site) { return !begins_inside(site) || !ends_inside(site); });
  std::sort(sites.begin(), sites.end(), [](const PolyaSite& a, const PolyaSite& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  if (sites.size() < 2) return {};
  return sites;
}

RowMask site_mask(const PolyaSite& site, char strand, std::int64_t window) {
  const std::int64_t begin = strand == '+' ? site.begin + 1 - kMaskBases : site.begin;
  return make_mask({{begin, begin + kMaskBases}}, window);
}

std::vector<float> score_polyadenylation(const std::vector<std::vector<double>>& reference,
                                         const std::vector<std::vector<double>>& alternate) {
  const std::size_t n_tracks = reference.front().size();
  std::vector<std::vector<double>> ratios = alternate;  // of each site
  for (std::size_t i = 0; i < ratios.size(); ++i)
    for (std::size_t t = 0; t < n_tracks; ++t)
      ratios[i][t] = finite_or_zero(ratios[i][t] / reference[i][t]);
  const auto n = static_cast<double>(ratios.size());
  std::vector<float> scores;
  for (std::size_t t = 0; t < n_tracks; ++t) {
    if (!has_finite_sums(reference, t) || !has_finite_sums(alternate, t)) {
      scores.push_back(std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    double largest = 0;
    for (std::size_t k = 1; k < ratios.size(); ++k) {
      double first = 0, rest = 0;
      for (std::size_t i = 0; i < ratios.size(); ++i) (i < k ? first : rest) += ratios[i][t];
      const auto n_first = static_cast<double>(k);
      const double ratio = (n - n_first) / n_first * first / rest;
      largest = std::max(largest, finite_or_zero(std::abs(std::log2(ratio))));
    }
    scores.push_back(static_cast<float>(largest));
  }
  return scores;
}

}  // namespace biogpu::tasks
