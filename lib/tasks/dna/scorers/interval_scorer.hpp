#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/bio/genome/genes/gene_annotation.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/tasks/dna/scorers/track_rows.hpp"

namespace biogpu::tasks {

// A number for each gene of a window, of one prediction: the mean or sum over its exons.
struct IntervalScorer {
  std::string output_type;  // "RNA_SEQ"
  std::int64_t width = 0;   // bases in the middle of the window that count; 0: all
  Reduction reduction = Reduction::mean;

  std::string head() const;
  // "GeneMaskScorer(requested_output=RNA_SEQ, width=200001, aggregation_type=MEAN)"
  std::string describe() const;
};

// RNA_SEQ, which is RNA_SEQ:200001:MEAN as DeepMind's client recommends it, or
// OUTPUT:WIDTH:AGGREGATION, where WIDTH is all or a number of bases. Throws Error{usage}.
IntervalScorer parse_interval_scorer(const std::string& text);

// A gene, and the rows of a window that count for it.
struct GeneRows {
  std::size_t gene = 0;
  RowMask mask;
};

// Genes of which a transcript starts in the middle `width` bases of a window (0: in the window),
// with the bins that hold bases of these transcripts' exons there. Genes without any are left out.
std::vector<GeneRows> exon_rows(const genome::GeneAnnotation& genes, const genome::Window& window,
                                std::int64_t width, std::int64_t bin_size);

}  // namespace biogpu::tasks
