#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/scorers/track_rows.hpp"

namespace biogpu::tasks {

// Probabilities of both alleles between which junctions are looked for: [bases, classes], the
// larger of both, 1 at annotated sites, and 0 outside the mask. The alternate's are aligned.
std::vector<float> unite_sites(const TrackRows& reference, const AlignedRows& alternate,
                               const std::vector<models::SpliceSite>& annotated,
                               const RowMask& mask);

// The sites in a window's rows of an allele.
models::SiteRows find_site_rows(const models::SpliceSites& sites, const AlleleShift& shift,
                                std::int64_t n_bases);

// Counts between the sites of a window: [donors, acceptors, 2 tissues], those for + first.
struct JunctionCounts {
  std::span<const float> values;
  std::int64_t n_acceptors = 0;
  std::int64_t n_tissues = 0;
};

// An intron of a window: its first base, and the base behind it.
struct JunctionScore {
  BinRange intron;
  std::vector<float> values;  // of each tissue
};

// |ln(1e-7 + ALT) - ln(1e-7 + REF)| in half precision, of those junctions on a gene's strand inside
// its body that have the largest of all in a tissue, in the order of the first such tissue. Of
// equal ones the first counts, by donor, then acceptor. Of each class the first 256 sites count.
std::vector<JunctionScore> score_junctions(const models::SpliceSites& sites,
                                           const JunctionCounts& reference,
                                           const JunctionCounts& alternate, char strand,
                                           const BinRange& body);

}  // namespace biogpu::tasks
