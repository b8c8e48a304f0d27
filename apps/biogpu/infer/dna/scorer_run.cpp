#include "apps/biogpu/infer/dna/scorer_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "apps/biogpu/command_line/list_option.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

constexpr const char* kRecommended = "recommended";

using tasks::Scorer;

bool is_recommended(const EffectFlags& flags) {
  return flags.scorers == std::vector<std::string>{kRecommended};
}

// What a scorer needs that was not given: "--genes", or nothing.
std::string missing_file(const Scorer& scorer, const EffectFlags& flags) {
  if (scorer.needs_genes() && flags.genes.empty()) return "--genes";
  if (scorer.kind == Scorer::Kind::polyadenylation && flags.polya.empty()) return "--polya";
  return {};
}

// Those whose files are given. left_out: of the recommended ones, all others.
std::vector<Scorer> choose_scorers(const EffectFlags& flags, std::vector<std::string>& left_out) {
  std::vector<Scorer> scorers;
  if (!is_recommended(flags)) {
    for (const std::string& text : flags.scorers) {
      if (text == kRecommended)
        throw Error(ErrorCode::usage, "--scorers recommended stands alone, without other scorers");
      scorers.push_back(tasks::parse_scorer(text));
      if (const std::string file = missing_file(scorers.back(), flags); !file.empty())
        throw Error(ErrorCode::usage, fmt::format("--scorers {} needs {}", text, file));
    }
    return scorers;
  }
  for (const Scorer& scorer : tasks::recommended_scorers()) {
    const std::string file = missing_file(scorer, flags);
    if (file.empty())
      scorers.push_back(scorer);
    else
      left_out.push_back(fmt::format("{} ({})", scorer.name, file));
  }
  return scorers;
}

DnaFlags checked_flags(const EffectFlags& flags, const std::vector<Scorer>& scorers) {
  if (is_vcf_path(flags.dna.infer.output))
    throw Error(ErrorCode::usage, "--scorers writes tables, not VCF");
  const bool needs_genes = std::any_of(scorers.begin(), scorers.end(),
                                       [](const Scorer& scorer) { return scorer.needs_genes(); });
  const auto needs_polya = std::any_of(scorers.begin(), scorers.end(), [](const Scorer& scorer) {
    return scorer.kind == Scorer::Kind::polyadenylation;
  });
  if (!flags.genes.empty() && !needs_genes)
    throw Error(ErrorCode::usage, "--genes: none of the --scorers is of genes");
  if (!flags.polya.empty() && !needs_polya)
    throw Error(ErrorCode::usage, "--polya is for --scorers POLYADENYLATION, which needs --genes");
  if (flags.merge_strands && !needs_genes)
    throw Error(ErrorCode::usage, "--merge-strands: none of the --scorers is of genes");
  if (!flags.genes.empty() && genome::gene_format(flags.genes) != genome::GeneFormat::gtf)
    throw Error(ErrorCode::usage, flags.genes + ": --scorers takes genes of GTF");
  DnaFlags dna = flags.dna;
  dna.infer.inputs = {flags.vcf};
  dna.infer.also_read.push_back({"--genome", flags.genome});
  dna.infer.also_read.push_back({"--genes", flags.genes});
  dna.infer.also_read.push_back({"--polya", flags.polya});
  for (const Scorer& scorer : scorers) {
    const std::string head = scorer.head();
    std::vector<std::string>& heads = dna.heads.heads;
    if (std::find(heads.begin(), heads.end(), head) == heads.end()) heads.push_back(head);
  }
  dna.heads.leave_out_missing = true;
  return dna;
}

}  // namespace

ScorerRun::ScorerRun(const EffectFlags& flags, const std::string& command_line)
    : flags_(flags),
      options_{choose_scorers(flags, left_out_), nullptr, nullptr, flags.grid,
               unknown_code(flags.dna),          1},
      run_(checked_flags(flags, options_.scorers), "infer variants", command_line,
           guess_bases(flags)),
      input_(flags.vcf, flags.genome, shard_options(flags)) {
  if (flags.grid > run_.info().window)
    throw Error(ErrorCode::usage, fmt::format("--grid {}: the model's windows have {} bases",
                                              flags.grid, run_.info().window));
  choose_loaded();
  read_genes();
  table_.emplace(
      options_.scorers,
      tasks::ScoreLines::Options{head_tracks(flags.dna.heads, flags.dna.infer.model, run_.model()),
                                 options_.genes, flags.merge_strands});
}

// Scorers whose heads the model has.
void ScorerRun::choose_loaded() {
  const std::vector<models::HeadChoice>& loaded = run_.model().heads();
  std::vector<Scorer> found;
  for (const Scorer& scorer : options_.scorers) {
    const std::string head = scorer.head();
    const bool is_there =
        std::any_of(loaded.begin(), loaded.end(),
                    [&](const models::HeadChoice& choice) { return choice.name == head; });
    if (is_there)
      found.push_back(scorer);
    else if (is_recommended(flags_))
      left_out_.push_back(fmt::format("{} (no tracks of {})", scorer.name, head));
    else
      throw Error(ErrorCode::usage,
                  fmt::format("--scorers {}: the model has no tracks of {}", scorer.name, head));
  }
  options_.scorers = std::move(found);
  if (!left_out_.empty())
    run_.log().warn(
        fmt::format("--scorers recommended: left out are {}", fmt::join(left_out_, ", ")));
}

void ScorerRun::read_genes() {
  const auto tell_elsewhere = [&](const std::string& path, std::uint64_t n) {
    if (n > 0)
      run_.log().info(fmt::format("{}: {} lines are of sequences that {} does not have", path, n,
                                  flags_.genome));
  };
  if (!flags_.genes.empty()) {
    options_.genes = &genes_.emplace(flags_.genes, input_.genome());
    tell_elsewhere(flags_.genes, genes_->n_lines_elsewhere());
  }
  if (!flags_.polya.empty()) {
    options_.polya = &polya_.emplace(flags_.polya, input_.genome());
    tell_elsewhere(flags_.polya, polya_->n_lines_elsewhere());
    if (polya_->size() == 0) run_.log().warn(flags_.polya + ": has no site");
  }
}

void ScorerRun::compute(models::DnaModel& model, std::size_t slot,
                        pipeline::RecordOutputs& result) const {
  const std::vector<genome::Variant>& variants = input_.variants(slot);
  const std::vector<tasks::AlleleScores> scores =
      tasks::score_variants(model, input_.genome(), variants, options_);
  for (const tasks::AlleleScores& allele : scores) {
    const genome::Variant& variant = variants[allele.variant];
    for (const tasks::ScoreRow& row : allele.rows)
      run_.require_finite(row.values, [&] { return input_.place(variant); });
    table_->append(input_.genome().contigs()[variant.contig].name, variant, allele, result.text);
  }
  result.n_records += variants.size();
  result.n_residues += scores.size();
}

void ScorerRun::write_table() {
  io::OutputFile out(flags_.dna.infer.output, flags_.dna.infer.shared.threads);
  out.write(table_->header());
  tasks::CompareOptions compare = compare_options(flags_.compare, options_.unknown);
  run_.prepare(compare);
  // Sites of the reference and of a pass are kept for junctions.
  models::DnaModel::Request request;
  std::vector<models::SiteWindow> sites;
  if (std::any_of(options_.scorers.begin(), options_.scorers.end(), [](const Scorer& scorer) {
        return scorer.kind == Scorer::Kind::splice_junction;
      }))
    request.sites = &sites;
  options_.windows_per_pass = std::min(compare.windows_per_pass, run_.windows_per_pass(request));
  options_.reuse = compare.reuse;
  options_.max_kept_bytes = compare.max_kept_bytes;
  input_.set_windows([this](const genome::Variant& variant) {
    return tasks::scored_window(variant, flags_.grid, run_.info().window);
  });
  input_.set_batch(options_.windows_per_pass);
  run_.run(
      input_,
      [&](models::DnaModel& model, std::size_t slot, pipeline::RecordOutputs& result) {
        compute(model, slot, result);
      },
      [&](const pipeline::RecordOutputs& result) { out.write(result.text); });
  if (run_.n_records() == 0) run_.log().warn("the input has no variant; the output has none");
  std::vector<std::string> names;
  for (const Scorer& scorer : options_.scorers) names.push_back(scorer.name);
  finish_variants(run_, input_, {},
                  {{"windows_per_pass", options_.windows_per_pass}, {"scorers", names}},
                  out.bytes(), [&] { out.commit(); });
}

}  // namespace biogpu::app
