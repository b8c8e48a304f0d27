#pragma once

#include <cstdint>
#include <vector>

#include "lib/tasks/dna/scorers/track_rows.hpp"

namespace biogpu::tasks {

// A polyadenylation site [begin, end) of a gene, bases of the window.
struct PolyaSite {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const PolyaSite&) const = default;
};

// The sites of a gene that count: those that begin in the window and end before its end, in
// ascending order. None where there are fewer than two of them, or less
// than 80 % of the gene's sites fulfil the first or the second of these.
std::vector<PolyaSite> sites_in_window(std::vector<PolyaSite> sites, std::int64_t window);

// The 400 bases in front of a site and its own first one on the gene's strand, of a window.
RowMask site_mask(const PolyaSite& site, char strand, std::int64_t window);

// For each track, the largest |log2 of a ratio| over all splits of a gene's sites into the first k
// and the rest: (n - k) / k times the sum of ALT / REF of the first, over that of the rest. Ratios
// and logarithms that are not finite are 0; a track whose sums are not has the score NaN. Both:
// sums over the mask of each site, at least one.
std::vector<float> score_polyadenylation(const std::vector<std::vector<double>>& reference,
                                         const std::vector<std::vector<double>>& alternate);

}  // namespace biogpu::tasks
