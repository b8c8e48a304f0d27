#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/biogpu/infer/dna/compare_flags.hpp"
#include "apps/biogpu/infer/dna/dna_run.hpp"
#include "apps/biogpu/infer/dna/variant_input.hpp"
#include "apps/biogpu/infer/dna/variant_scores.hpp"
#include "lib/bio/genome/annotated_vcf.hpp"
#include "lib/bio/genome/gene_table.hpp"
#include "lib/bio/genome/haplotype_set.hpp"

namespace biogpu::app {

struct EffectFlags {
  DnaFlags dna;
  std::string vcf = "-";
  std::string genome;
  std::vector<std::string> scores = {"SAD"};
  std::vector<std::string> bins = {"all"};
  CompareFlags compare;
  std::int64_t grid = 1;
  bool wide = false;
  std::string genes;                 // BED or GTF, or empty
  std::vector<std::string> samples;  // whose haplotypes are taken; empty: the genome's
  // Scores as AlphaGenome's client gives them, by ScorerRun; or empty.
  std::vector<std::string> scorers;
  std::string polya;  // BED of polyadenylation sites, or empty
  bool merge_strands = false;
};

// Whether an output is the annotated input.
bool is_vcf_path(const std::string& path);

// Roughly, bases of all windows.
double guess_bases(const EffectFlags& flags);
// How the variants of the shard are read.
genome::VariantReaderOptions shard_options(const EffectFlags& flags);
// The end of a run over variants: the summary, with `counts` of the task first, the outputs' names,
// and what was skipped. Throws Error{skipped} where records were.
void finish_variants(DnaRun& run, const VariantInput& input,
                     const genome::HaplotypeCounts& haplotypes, nlohmann::ordered_json counts_json,
                     std::uint64_t output_bytes, const std::function<void()>& name_outputs);

// `biogpu infer variants`: from variants through a model of DNA to a table or an annotated file.
class EffectRun {
 public:
  EffectRun(const EffectFlags& flags, const std::string& command_line);
  void write_table();
  void write_vcf();

 private:
  void add_bins(const std::string& text);
  void read_annotation();
  void read_genes();
  void run(const DnaRun::Write& write, bool as_text);
  void compute(models::DnaModel& model, std::size_t slot, bool as_text,
               pipeline::RecordOutputs& result) const;
  std::vector<genome::InfoField> info_fields() const;
  void warn_of_tags(const genome::Variant& variant);
  void write_annotated(genome::AnnotatedVcfWriter& writer, const genome::Variant& variant,
                       const io::NamedArray& array) const;
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

  const EffectFlags flags_;
  const std::vector<VariantScore> scores_;
  tasks::VariantWindowOptions windows_;
  tasks::CompareOptions compare_;
  DnaRun run_;
  VariantInput input_;
  std::optional<genome::GeneTable> genes_;
  std::optional<genome::HaplotypeSet> haplotypes_;
  std::vector<std::string> tracks_;
  VariantTable table_;
};

}  // namespace biogpu::app
