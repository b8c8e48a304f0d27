#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/alphagenome/config.hpp"
#include "lib/models/base/pass.hpp"
#include "lib/models/base/splice_sites.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/linear.hpp"

namespace biogpu::models::alphagenome {

class WeightReader;

// The head of splice junctions: counts of each pair of a donor and an acceptor, tissue and strand.
struct JunctionWeights {
  // Which tissue of a strand (0: +, 1: -) a column of the output is, of those that are computed.
  struct Column {
    std::size_t strand = 0, tissue = 0;
  };
  HeadLayer sites;  // probabilities of all classes of splice sites
  tensor::Linear
      project;  // [channels, fine width]; even channels are before odd ones, here and below
  std::array<tensor::Tensor, kJunctionClasses> scale,
      shift;  // f32 [tissues of the strand, channels]
  std::vector<Column> columns;
};

// columns: below twice the tissues, those of + before those of -; empty: all.
JunctionWeights read_junctions(WeightReader& reader, const std::vector<std::int64_t>& columns);

// Of each class the most probable bases, at most kMaxSites and of a probability of at least 0.1; of
// equal ones the first. NaN counts as the largest, so that what is computed of it is refused later.
// probabilities: [bases, kSpliceClasses].
SpliceSites select_sites(std::span<const float> probabilities);

// Sites of a window, each in its own row.
SiteRows own_rows(const SpliceSites& sites);

// The rows where n of them are there, from row `first` on. Throws std::out_of_range for one that is
// not there.
SiteRows rows_behind(const SiteRows& rows, std::int64_t first, std::int64_t n);

// Counts of a window: softplus of the products of donors and acceptors, whose projections are
// scaled and shifted for each tissue and turned by their position in the window, in a pass of its
// own. rows: operand [bases, fine width], the window's embedding of bases. The result is
// `tracks` [donors, acceptors, columns], as many as the strand with more of them has, zeros for
// pairs that the other does not have, and `positions` [kJunctionClasses, sites], -1 behind the
// last.
struct Junctions {
  Outputs::Array tracks, positions;
};
// Queues the pass's operations; its outputs are for join_strands().
void predict_junctions(Pass& pass, const JunctionWeights& weights, const tensor::Tensor& rows,
                       const SpliceSites& sites, const SiteRows& of_sites);
Junctions join_strands(const JunctionWeights& weights, const SpliceSites& sites,
                       const Outputs& strands);
// Sites whose probability is NaN get a position that is NaN. positions: as in Junctions.
void mark_unknown_sites(std::span<const float> probabilities, const SpliceSites& sites,
                        Outputs::Array& positions);

}  // namespace biogpu::models::alphagenome
