#pragma once

#include <string>
#include <vector>

#include "lib/tasks/dna/scorers/variant_scorer.hpp"

namespace biogpu::tasks {

// Scores of variants as lines of an allele, scorer, track and gene.
class ScoreTable {
 public:
  // options: of ScoreLines, with a head for each scorer.
  ScoreTable(const std::vector<Scorer>& scorers, ScoreLines::Options options);

  std::string header() const;
  void append(const std::string& contig, const genome::Variant& variant, const AlleleScores& scores,
              std::string& text) const;

 private:
  const ScoreLines lines_;
  std::vector<ScoreLines::Scorer> scorers_;
};

}  // namespace biogpu::tasks
