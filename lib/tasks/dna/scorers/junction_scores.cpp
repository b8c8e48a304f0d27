#include "lib/tasks/dna/scorers/junction_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/tasks/dna/scorers/larger_or_nan.hpp"

namespace biogpu::tasks {
namespace {

constexpr std::size_t kMaxSites = 256;
constexpr double kCountOffset = 1e-7;

// So that a junction of NaN is reported.
float infinite_if_nan(float x) {
  return std::isnan(x) ? std::numeric_limits<float>::infinity() : x;
}

// The nearest number of half precision.
float round_to_half(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent, -13) - 11);
  return static_cast<float>(std::nearbyint(x / step) * step);
}

}  // namespace

std::vector<float> unite_sites(const TrackRows& reference, const AlignedRows& alternate,
                               const std::vector<models::SpliceSite>& annotated,
                               const RowMask& mask) {
  const std::int64_t n_classes = reference.n_tracks;
  std::vector<float> united(static_cast<std::size_t>(reference.size() * n_classes));
  for (const BinRange& range : mask)
    for (std::int64_t i = range.begin; i < range.end; ++i)
      std::transform(reference.row(i), reference.row(i) + n_classes, alternate.row(i),
                     united.begin() + i * n_classes,
                     [](float a, float b) { return larger_or_nan(a, b); });
  for (const models::SpliceSite& site : annotated)
    for (const BinRange& range : mask)
      if (site.base >= range.begin && site.base < range.end)
        united[static_cast<std::size_t>(site.base * n_classes + site.of_class)] = 1;
  return united;
}

models::SiteRows find_site_rows(const models::SpliceSites& sites, const AlleleShift& shift,
                                std::int64_t n_bases) {
  models::SiteRows rows;
  rows.max_begin = shift.anchor;
  rows.max_end = std::min(n_bases, shift.anchor + std::max<std::int64_t>(shift.n_inserted, 0) + 1);
  for (const std::vector<std::int32_t>& of_class : sites)
    for (const std::int32_t base : of_class) {
      const std::int64_t row = find_source(shift, base, n_bases);
      rows.rows.push_back(row == kZeroRow      ? models::SiteRows::kZeros
                          : row == kMaximumRow ? models::SiteRows::kMaximum
                                               : static_cast<std::int32_t>(row));
    }
  return rows;
}

std::vector<JunctionScore> score_junctions(const models::SpliceSites& sites,
                                           const JunctionCounts& reference,
                                           const JunctionCounts& alternate, char strand,
                                           const BinRange& body) {
  const std::size_t donor = strand == '-' ? 2 : 0;
  const std::vector<std::int32_t>&donors = sites[donor], &acceptors = sites[donor + 1];
  const std::int64_t n_tissues = reference.n_tissues;
  std::vector<JunctionScore> found;
  for (std::size_t d = 0; d < std::min(donors.size(), kMaxSites); ++d)
    for (std::size_t a = 0; a < std::min(acceptors.size(), kMaxSites); ++a) {
      const BinRange intron = strand == '-' ? BinRange{acceptors[a] + 1, donors[d]}
                                            : BinRange{donors[d] + 1, acceptors[a]};
      if (intron.begin >= intron.end || intron.begin <= body.begin || intron.end >= body.end)
        continue;
      const auto row =
          static_cast<std::int64_t>(d) * reference.n_acceptors + static_cast<std::int64_t>(a);
      const auto first =
          static_cast<std::size_t>(row * 2 * n_tissues + (strand == '-' ? n_tissues : 0));
      JunctionScore score{intron, {}};
      for (std::size_t t = first; t < first + static_cast<std::size_t>(n_tissues); ++t)
        score.values.push_back(std::abs(
            round_to_half(std::log(static_cast<double>(alternate.values[t]) + kCountOffset) -
                          std::log(static_cast<double>(reference.values[t]) + kCountOffset))));
      found.push_back(std::move(score));
    }
  std::vector<std::size_t> best;
  for (std::size_t t = 0; t < static_cast<std::size_t>(n_tissues) && !found.empty(); ++t) {
    const auto largest = std::max_element(
        found.begin(), found.end(), [&](const JunctionScore& x, const JunctionScore& y) {
          return infinite_if_nan(x.values[t]) < infinite_if_nan(y.values[t]);
        });
    const auto at = static_cast<std::size_t>(largest - found.begin());
    if (std::find(best.begin(), best.end(), at) == best.end()) best.push_back(at);
  }
  std::vector<JunctionScore> reported;
  for (const std::size_t at : best) reported.push_back(std::move(found[at]));
  return reported;
}

}  // namespace biogpu::tasks
