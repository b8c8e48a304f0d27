// `biogpu infer design`, and `biogpu infer score` with a model of structures.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/structures/structure_run.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

struct DesignFlags {
  InferFlags infer;
  StructureFlags structures;
  std::string probabilities;
};

void add_sampling(CLI::App& command, DesignFlags& flags) {
  const OptionGroup sampling(command);
  models::proteinmpnn::DesignOptions& options = flags.structures.options;
  models::proteinmpnn::DesignRequest& request = flags.structures.request;
  sampling
      .option("-n,--samples", options.n_sequences,
              "number of sequences drawn at each temperature, for each structure [1]", "N")
      ->transform(in_range(1, 1 << 20));
  add_list(command,
           {"--temperature", "of the draws; higher gives more diverse sequences [0.1]", "T,...",
            in_range(1e-6, 1e6)},
           options.temperatures);
  sampling.option("--omit", request.omit, "letters that are never drawn, X in any case [none]",
                  "LETTERS");
  sampling.flag("--allow-X", request.allow_x, "X may be drawn, which otherwise is omitted");
  add_list(command,
           {"--bias", "added to letters' logits, over the temperature: A:-1.1,F:0.7", "LIST"},
           flags.structures.bias);
  sampling.flag("--homooligomer", request.homooligomer,
                "one sequence for all designed chains, position by position");
  sampling
      .option("--backbone-noise", options.backbone_noise,
              "standard deviation added to coordinates, Angstrom [0]", "X")
      ->transform(in_range(0.0, 100.0));
  sampling
      .option("--save-probs", flags.probabilities,
              "probabilities of letters at every residue, .npz", "FILE")
      ->check(array_name());
}

void add_files(CLI::App& command, models::proteinmpnn::DesignRequest& request) {
  const OptionGroup files(command, kOriginalFiles);
  files.option("--omit-AA-jsonl", request.omit_aa_jsonl, "letters never drawn at some positions",
               "FILE");
  files.option("--bias-AA-jsonl", request.bias_aa_jsonl,
               "JSON file with a bias of amino acids, added at all positions", "FILE");
  files.option("--bias-by-res-jsonl", request.bias_by_res_jsonl, "bias of letters at each position",
               "FILE");
  files.option("--tied-positions-jsonl", request.tied_positions_jsonl,
               "positions that share a letter", "FILE");
  CLI::Option* const matrices =
      files.option("--pssm-jsonl", request.pssm_jsonl,
                   "JSON lines with position-specific scoring matrices of chains", "FILE");
  CLI::Option* const share =
      files.option("--pssm-multi", request.pssm_multi, "share of their bias, 0 to 1 [0]", "X")
          ->transform(in_range(0.0, 1.0));
  CLI::Option* const threshold =
      files.option("--pssm-threshold", request.pssm_threshold,
                   "least log odds of an amino acid in the matrix for it to be allowed [0]", "X");
  CLI::Option* const log_odds =
      files.flag("--pssm-log-odds", request.pssm_log_odds, "prefer letters above the threshold");
  CLI::Option* const bias =
      files.flag("--pssm-bias", request.pssm_bias, "mix their bias into the probabilities");
  // One without the other would have no effect.
  log_odds->needs(matrices);
  threshold->needs(log_odds);
  bias->needs(matrices)->needs(share);
  share->needs(bias);
}

void add_input(CLI::App& command, InferFlags& flags) {
  const OptionGroup input(command);
  input.option("STRUCTURES", flags.inputs, "PDB or mmCIF, plain or gzip; or folders of them", " ")
      ->required();
  add_model_flag(command, flags);
  input
      .option(
          "-o,--output", flags.output,
          "FASTA file for the designs, compressed where its name ends in .gz [-, standard output]",
          "FILE")
      ->check(output_name({"fasta", "txt"}));
}

void require_use_of_matrices(const models::proteinmpnn::DesignRequest& request) {
  if (!request.pssm_jsonl.empty() && !request.pssm_bias && !request.pssm_log_odds)
    throw Error(ErrorCode::usage, "--pssm-jsonl needs --pssm-bias or --pssm-log-odds too");
}

// Those without a range of their own.
void require_numbers(const DesignFlags& flags) {
  const auto require = [](const char* option, double value) {
    if (!std::isfinite(value))
      throw Error(ErrorCode::usage, fmt::format("{} {}: expected a number", option, value));
  };
  const auto& [options, request] = std::tie(flags.structures.options, flags.structures.request);
  for (const double temperature : options.temperatures) require("--temperature", temperature);
  require("--backbone-noise", options.backbone_noise);
  require("--pssm-multi", request.pssm_multi);
  require("--pssm-threshold", request.pssm_threshold);
}

void run_design(DesignFlags flags, const std::string& command_line) {
  require_numbers(flags);
  require_use_of_matrices(flags.structures.request);
  const std::string& probabilities = flags.probabilities;
  const bool has_arrays = !probabilities.empty();
  const io::ArrayFormat format =
      has_arrays ? io::array_format(probabilities) : io::ArrayFormat::npz;
  flags.structures.options.probabilities = has_arrays;
  flags.infer.also_written = {{"--save-probs", probabilities}};
  if (has_arrays && format == io::ArrayFormat::npy)
    flags.infer.also_written.push_back({"the index", io::npy_index(probabilities)});
  StructureRun run(flags.infer, flags.structures, "infer design", command_line);
  std::unique_ptr<io::ArrayWriter> arrays;
  if (has_arrays) arrays = io::make_array_writer(probabilities, format);
  io::OutputFile out(flags.infer.output, 1);
  run.run(
      [&](const std::string& path) {
        return models::proteinmpnn::design_job(run.info(), run.inputs(), run.options(),
                                               run.replay(), path);
      },
      [&](const pipeline::RecordOutputs& result) {
        out.write(result.text);
        for (const io::NamedArray& array : result.arrays) arrays->add(array);
      });
  // A full disk is met before any of the files has its name.
  out.finish();
  run.finish(out.bytes(), [&] {
    if (arrays) arrays->commit();
    out.commit();
  });
}

}  // namespace

Run add_infer_design(CLI::App& command) {
  const auto flags = std::make_shared<DesignFlags>();
  add_input(command, flags->infer);
  add_sampling(command, *flags);
  add_structure_flags(command, flags->structures);
  add_files(command, flags->structures.request);
  add_resume_flag(command, flags->infer);
  add_shared_flags(command, flags->infer.shared);
  add_infer_shard_flag(command, flags->infer,
                       "part I of N of the structures; 'cat' or 'biogpu gather' joins FASTA");
  // Structures are few, and the device takes as many at once as it has room for.
  remove_flags(command, {"--batch", "--max-memory"});
  command.footer(
      std::string(
          "Each structure gives its own sequence with its score, then the samples: '>T=0.1,\n"
          "sample=1, score=..., global_score=..., seq_recovery=...', chains joined by '/'. A "
          "score\n"
          "is the mean of -log p over designed residues, a global score over all.\n\n"
          "Examples:\n"
          "  biogpu infer design --model v_48_020 backbone.pdb -o designs.fa\n"
          "  biogpu infer design --model v_48_020 structures/ -n 8 --temperature 0.1,0.3 \\\n"
          "      --omit C -o designs.fa --save-probs probs.npz\n"
          "  biogpu infer design --model v_48_020 complex.cif.gz --chains A --fixed 'A1-10 A52'\n"
          "  biogpu infer design --model v_48_020 dimer.pdb --homooligomer --seed 7\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_design(*flags, command_line); };
}

void run_structure_score(InferFlags infer, const StructureFlags& flags,
                         const std::string& sequences, const std::string& command_line) {
  infer.also_read = {{"--sequences", sequences}};
  std::vector<models::proteinmpnn::ReadSequence> given;
  if (!sequences.empty()) given = models::proteinmpnn::read_sequences(sequences);
  StructureRun run(infer, flags, "infer score", command_line);
  io::OutputFile out(infer.output, 1);
  out.write(models::proteinmpnn::score_header());
  run.run(
      [&](const std::string& path) {
        return models::proteinmpnn::score_job(run.info(), run.inputs(), run.options(), run.replay(),
                                              path, given);
      },
      [&](const pipeline::RecordOutputs& result) { out.write(result.text); });
  run.finish(out.bytes(), [&] { out.commit(); });
}

}  // namespace biogpu::app
