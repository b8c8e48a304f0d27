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
              "draw N sequences at each temperature for each structure [1]", "N")
      ->transform(in_range(1, 1 << 20));
  add_list(
      command,
      {"--temperature", "draw at these temperatures; higher gives more diverse sequences [0.1]",
       "T,...", in_range(1e-6, 1e6)},
      options.temperatures);
  sampling.option("--omit", request.omit,
                  "leave these letters out of designs, X in any case [none]", "LETTERS");
  sampling.flag("--allow-X", request.allow_x, "allow X in designs, which is left out otherwise");
  add_list(
      command,
      {"--bias", "add these values to the logits of letters, over the temperature, as A:-1.1,F:0.7",
       "LIST"},
      flags.structures.bias);
  sampling.flag("--homooligomer", request.homooligomer,
                "design one sequence for all designed chains, position by position");
  sampling
      .option("--backbone-noise", options.backbone_noise,
              "add noise of this standard deviation to coordinates, in Angstrom [0]", "X")
      ->transform(in_range(0.0, 100.0));
  sampling
      .option(
          "--save-probs", flags.probabilities,
          "write the probabilities of all letters at every residue to this file of arrays, as .npz",
          "FILE")
      ->check(array_name());
}

void add_files(CLI::App& command, models::proteinmpnn::DesignRequest& request) {
  const OptionGroup files(command, kOriginalFiles);
  files.option("--omit-AA-jsonl", request.omit_aa_jsonl,
               "read letters that are never drawn at some positions from this file", "FILE");
  files.option("--bias-AA-jsonl", request.bias_aa_jsonl,
               "read a bias of amino acids for all positions from this JSON file", "FILE");
  files.option("--bias-by-res-jsonl", request.bias_by_res_jsonl,
               "read a bias of letters at each position from this file", "FILE");
  files.option("--tied-positions-jsonl", request.tied_positions_jsonl,
               "read positions that share a letter from this file", "FILE");
  CLI::Option* const matrices = files.option(
      "--pssm-jsonl", request.pssm_jsonl,
      "read position-specific scoring matrices (PSSM) of chains from these JSON lines", "FILE");
  CLI::Option* const share = files
                                 .option("--pssm-multi", request.pssm_multi,
                                         "take this share of the bias of the PSSM, 0 to 1 [0]", "X")
                                 ->transform(in_range(0.0, 1.0));
  CLI::Option* const threshold =
      files.option("--pssm-threshold", request.pssm_threshold,
                   "allow amino acids with at least these log odds in the PSSM [0]", "X");
  CLI::Option* const log_odds = files.flag("--pssm-log-odds", request.pssm_log_odds,
                                           "prefer amino acids above --pssm-threshold in the PSSM");
  CLI::Option* const bias = files.flag("--pssm-bias", request.pssm_bias,
                                       "mix the bias of the PSSM into the probabilities");
  // One without the other would have no effect.
  log_odds->needs(matrices);
  threshold->needs(log_odds);
  bias->needs(matrices)->needs(share);
  share->needs(bias);
}

void add_input(CLI::App& command, InferFlags& flags) {
  const OptionGroup input(command);
  input
      .option("STRUCTURES", flags.inputs, "PDB or mmCIF files, plain or gzip, or folders of them",
              " ")
      ->required();
  add_model_flag(command, flags);
  input
      .option("-o,--output", flags.output,
              "write the designs as FASTA to this file, compressed where its name ends in .gz [-, "
              "standard output]",
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
  add_infer_shard_flag(
      command, flags->infer,
      "design for part I of N of the structures; 'cat' or 'biogpu gather' joins FASTA");
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
