// `biogpu infer score`: a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/proteins/record_table.hpp"
#include "apps/biogpu/infer/structures/structure_run.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/tasks/score.hpp"
#include "lib/tasks/variants.hpp"

namespace biogpu::app {
namespace {

constexpr char kOfStructures[] = "Models of structures";

struct ScoreFlags {
  InferFlags infer;
  std::string variants;
  bool all_single = false;
  std::string method = "masked-marginal";
  std::int64_t first_residue = 1;
  StructureFlags structures;
  std::string sequences;
};

bool of_variants(const ScoreFlags& flags) { return flags.all_single || !flags.variants.empty(); }

// The variants of one sequence. They are made twice, for positions and for lines: what a batch's
// sequences have together may be more than memory should hold.
std::vector<tasks::Variant> variants_of(const ScoreFlags& flags, const tasks::VariantTable& table,
                                        const Record& record) {
  if (flags.all_single)
    return tasks::single_variants(record.vocabulary, record.sequence, flags.first_residue);
  const auto found = table.find(table.count(record.name) > 0 ? record.name : std::string());
  if (found == table.end()) return {};
  std::vector<tasks::Variant> variants = found->second;
  for (tasks::Variant& variant : variants)
    tasks::resolve_variant(variant, record.vocabulary, record.sequence, flags.first_residue, [&] {
      return fmt::format("{}: line {} ({})", flags.variants, variant.line, shortened(record.name));
    });
  return variants;
}

tasks::Positions positions_of(const ScoreFlags& flags, const tasks::VariantTable& table,
                              const Record& record) {
  if (!of_variants(flags)) return tasks::residue_positions(record.vocabulary, record.sequence);
  if (flags.all_single) return tasks::single_positions(record.vocabulary, record.sequence);
  return tasks::variant_positions(variants_of(flags, table, record));
}

// The lines of one sequence.
void score_sequence(const ScoreFlags& flags, const tasks::VariantTable& table, const Record& record,
                    const tasks::LogProbabilities& probabilities, std::string& text) {
  const std::string name = io::as_field(record.name);
  if (!of_variants(flags)) {
    const auto sum = tasks::pseudo_likelihood(record.sequence, probabilities);
    if (sum.n_residues > 0) record.require_finite(std::array{sum.perplexity()});
    text += fmt::format("{}\t{}\t{:.6f}\t{:.6f}\n", name, sum.n_residues, sum.log_likelihood,
                        sum.perplexity());
    return;
  }
  const std::vector<tasks::Variant> variants = variants_of(flags, table, record);
  const std::vector<double> scores = tasks::variant_scores(variants, probabilities);
  record.require_finite(scores);
  for (std::size_t i = 0; i < variants.size(); ++i)
    text += fmt::format("{}\t{}\t{:.6f}\n", name, variants[i].text, scores[i]);
}

// Variants of sequences that are not there are left out, with a warning; but not all of them.
void report_missing(const std::string& path, const tasks::VariantTable& table,
                    const std::unordered_set<std::string>& names, Log& log) {
  const auto line_of = [&](const std::string& name) { return table.at(name).front().line; };
  const std::string& first =
      *std::min_element(names.begin(), names.end(),
                        [&](const auto& a, const auto& b) { return line_of(a) < line_of(b); });
  const std::string what = fmt::format("{}: line {}: no sequence is named {}", path, line_of(first),
                                       biogpu::quoted(first));
  if (names.size() == table.size()) throw Error(ErrorCode::bad_input, what);
  log.warn(
      fmt::format("{}; variants of {} of {} names are left out", what, names.size(), table.size()));
}

void run_sequence_score(const ScoreFlags& flags, const std::string& command_line) {
  if (flags.variants == "-")
    throw Error(ErrorCode::usage, "--variants needs a file, not standard input");
  const tasks::VariantTable table =
      flags.variants.empty() ? tasks::VariantTable() : tasks::read_variants(flags.variants);
  const bool variants = of_variants(flags);
  std::unordered_set<std::string> names;
  for (const auto& [name, its_variants] : table)
    if (!name.empty()) names.insert(name);
  InferFlags infer = flags.infer;
  infer.also_read = {{"--variants", flags.variants}};
  run_table(
      infer,
      {"infer score",
       variants ? "name\tmutant\tscore\n" : "name\tresidues\tlog_likelihood\tperplexity\n",
       !variants || flags.method == "masked-marginal",
       [&](const Record& record) { return positions_of(flags, table, record); },
       [&](const Record& record, const tasks::LogProbabilities& probabilities, std::string& text) {
         score_sequence(flags, table, record, probabilities, text);
       },
       names,
       [&](const auto& missing, Log& log) { report_missing(flags.variants, table, missing, log); }},
      command_line);
}

// What is for the other kind of model, or for variants, must not be given and have no effect.
void refuse_given(const CLI::App& command, bool of_structures, bool has_variants) {
  constexpr const char* kOfSequences[] = {
      "--variants",      "--all-single", "--method",    "--first-residue", "--truncate",
      "--allow-unknown", "--keep-rare",  "--precision", "--batch",         "--max-memory"};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const bool for_sequences =
        std::any_of(std::begin(kOfSequences), std::end(kOfSequences),
                    [&](const char* name) { return option->check_name(name); });
    const bool for_structures =
        option->get_group() == kOfStructures || option->get_group() == kOriginalFiles;
    if (of_structures ? for_sequences : for_structures)
      throw Error(ErrorCode::usage, fmt::format("{} is for models of {}", option->get_name(),
                                                of_structures ? "sequences" : "structures"));
    if (!has_variants && (option->check_name("--method") || option->check_name("--first-residue")))
      throw Error(ErrorCode::usage,
                  fmt::format("{} needs --variants or --all-single", option->get_name()));
  }
}

void run_score(const CLI::App& command, const ScoreFlags& flags, const std::string& command_line) {
  const bool of_structures =
      models::require_task(models::ModelConfig(flags.infer.model), "score").reads ==
      models::Reads::structures;
  refuse_given(command, of_structures, of_variants(flags));
  if (of_structures)
    run_structure_score(flags.infer, flags.structures, flags.sequences, command_line);
  else
    run_sequence_score(flags, command_line);
}

}  // namespace

Run add_infer_score(CLI::App& command) {
  const auto flags = std::make_shared<ScoreFlags>();
  const OptionGroup options(command);
  const OptionGroup structures(command, kOfStructures);
  add_table_output(command, flags->infer);
  CLI::Option* table = options.option("--variants", flags->variants,
                                      "score the variants of this table, plain or gzip, with a "
                                      "column mutant (A12C, or A12C:D5E) and perhaps one name",
                                      "FILE");
  options
      .flag("--all-single", flags->all_single,
            "score every residue replaced by each of the other 19")
      ->excludes(table);
  options
      .option("--method", flags->method,
              "score variants by masked-marginal (a pass for each position) or wt-marginal (one "
              "pass) [masked-marginal]",
              "NAME")
      ->transform(one_of({"masked-marginal", "wt-marginal"}));
  options
      .option("--first-residue", flags->first_residue,
              "number the first residue of a sequence N in the table of variants [1]", "N")
      ->transform(in_range(-(std::int64_t{1} << 40), std::int64_t{1} << 40));
  structures.option(
      "--sequences", flags->sequences,
      "score the sequences of this FASTA on structures, chains joined by '/', and their own",
      "FASTA");
  structures
      .option("--orders", flags->structures.options.n_sequences,
              "average a score over N random decoding orders [1]", "N")
      ->transform(in_range(1, 1 << 20));
  add_structure_flags(command, flags->structures, kOfStructures);
  add_infer_flags(command, flags->infer);
  add_infer_shard_flag(
      command, flags->infer,
      "score part I of N of the sequences or structures; 'biogpu gather' joins the tables");
  command.footer(
      std::string(
          "Without variants: name, residues, log_likelihood (the sum of log p of each residue\n"
          "while it is masked), perplexity. With variants: name, mutant, score (sum over its\n"
          "residues of log p(new) - log p(old); above 0 the model prefers the variant).\n"
          "With a model of structures the inputs are PDB or mmCIF files; columns: structure,\n"
          "sequence, letters, score (mean of -log p over designed residues), score_sd,\n"
          "global_score (over all), global_score_sd, orders.\n\n"
          "Examples:\n"
          "  biogpu infer score --model esm2_t6_8M_UR50D antibodies.fa -o likelihood.tsv\n"
          "  biogpu infer score --model esm2_t33_650M_UR50D --variants dms.tsv wt.fa\n"
          "  biogpu infer score --model esm2_t33_650M_UR50D --all-single \\\n"
          "      --method wt-marginal wt.fa -o matrix.tsv\n"
          "  biogpu infer score --model v_48_020 --sequences designs.fa backbone.pdb\n\n") +
      kExitCodes);
  return [flags, &command](const std::string& command_line) {
    run_score(command, *flags, command_line);
  };
}

}  // namespace biogpu::app
