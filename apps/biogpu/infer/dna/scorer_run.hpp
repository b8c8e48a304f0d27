#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/biogpu/infer/dna/dna_run.hpp"
#include "apps/biogpu/infer/dna/effect_run.hpp"
#include "apps/biogpu/infer/dna/variant_input.hpp"
#include "lib/bio/genome/genes/gene_annotation.hpp"
#include "lib/bio/genome/genes/polya_table.hpp"
#include "lib/tasks/dna/scorers/score_table.hpp"
#include "lib/tasks/dna/scorers/variant_scorer.hpp"

namespace biogpu::app {

// `biogpu infer variants --scorers`: from variants through AlphaGenome to a table of scores.
class ScorerRun {
 public:
  ScorerRun(const EffectFlags& flags, const std::string& command_line);
  void write_table();

 private:
  void choose_loaded();
  void read_genes();
  void compute(models::DnaModel& model, std::size_t slot, pipeline::RecordOutputs& result) const;

  const EffectFlags flags_;
  std::vector<std::string> left_out_;  // of the recommended scorers, with the reason
  tasks::ScorerOptions options_;
  DnaRun run_;
  VariantInput input_;
  std::optional<genome::GeneAnnotation> genes_;
  std::optional<genome::PolyaTable> polya_;
  std::optional<tasks::ScoreTable> table_;
};

}  // namespace biogpu::app
