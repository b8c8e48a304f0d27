// `biogpu infer design`, and `biogpu infer score` with a model of structures.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer_commands.hpp"
#include "apps/biogpu/infer_structures.hpp"
#include "lib/core/error.hpp"
#include "lib/infer/output/array_writer.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

constexpr char kFiles[] = "Files of the original";

struct DesignFlags {
  InferFlags infer;
  StructureFlags structures;
  std::string probabilities;
};

void add_sampling(CLI::App& command, DesignFlags& flags) {
  infer::mpnn::DesignOptions& options = flags.structures.options;
  infer::mpnn::DesignRequest& request = flags.structures.request;
  command.add_option("-n,--samples", options.n_sequences, "sequences at each temperature [1]")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->option_text("N");
  command
      .add_option("--temperature", options.temperatures,
                  "of the draws; higher gives more diverse sequences [0.1]")
      ->delimiter(',')
      ->check(CLI::Range(1e-6, 1e6).description(""))
      ->option_text("T,...");
  command.add_option("--omit", request.omit, "letters that are never drawn [X]")
      ->option_text("LETTERS");
  command
      .add_option("--bias", flags.structures.bias,
                  "added to letters' logits, over the temperature: A:-1.1,F:0.7")
      ->delimiter(',')
      ->option_text("LIST");
  command
      .add_flag("--homooligomer", request.homooligomer,
                "one sequence for all designed chains, position by position")
      ->option_text(" ");
  command
      .add_option("--backbone-noise", options.backbone_noise,
                  "standard deviation added to coordinates, Angstrom [0]")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->option_text("X");
  command
      .add_option("--save-probs", flags.probabilities,
                  "probabilities of letters at every residue, .npz")
      ->option_text("FILE");
}

void add_files(CLI::App& command, infer::mpnn::DesignRequest& request) {
  const auto file = [&](const char* name, std::string& path, const char* what) {
    command.add_option(name, path, what)->option_text("FILE")->group(kFiles);
  };
  file("--omit-AA-jsonl", request.omit_aa_jsonl, "letters never drawn at some positions");
  file("--bias-AA-jsonl", request.bias_aa_jsonl, "bias of letters");
  file("--bias-by-res-jsonl", request.bias_by_res_jsonl, "bias of letters at each position");
  file("--tied-positions-jsonl", request.tied_positions_jsonl, "positions that share a letter");
  file("--pssm-jsonl", request.pssm_jsonl, "position-specific matrices");
  command.add_option("--pssm-multi", request.pssm_multi, "share of their bias, 0 to 1 [0]")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->option_text("X")
      ->group(kFiles);
  command.add_option("--pssm-threshold", request.pssm_threshold, "of log odds [0]")
      ->option_text("X")
      ->group(kFiles);
  command.add_flag("--pssm-log-odds", request.pssm_log_odds, "prefer letters above the threshold")
      ->option_text(" ")
      ->group(kFiles);
  command.add_flag("--pssm-bias", request.pssm_bias, "mix their bias into the probabilities")
      ->option_text(" ")
      ->group(kFiles);
}

void add_input(CLI::App& command, InferFlags& flags) {
  command.add_option("STRUCTURES", flags.inputs, "PDB or mmCIF, plain or gzip; or folders of them")
      ->required()
      ->option_text(" ");
  command.add_option("--model", flags.model, "folder with config.json and safetensors")
      ->required()
      ->option_text("FOLDER");
  command.add_option("-o,--output", flags.output, "FASTA, with .gz compressed [-, stdout]")
      ->option_text("FILE");
}

void run_design(DesignFlags flags, const std::string& command_line) {
  std::unique_ptr<infer::ArrayWriter> arrays;
  if (!flags.probabilities.empty()) {
    arrays =
        infer::make_array_writer(flags.probabilities, infer::array_format(flags.probabilities));
    flags.structures.options.probabilities = true;
  }
  StructureRun run(flags.infer, flags.structures, "infer design", command_line);
  io::OutputFile out(flags.infer.output, 1);
  run.run(
      [&](const std::string& path, infer::BatchResult& result) {
        infer::mpnn::design(run.weights(), run.inputs(), run.options(), run.replay(), path, result);
      },
      [&](const infer::BatchResult& result) {
        out.write(result.text);
        for (const infer::NamedArray& array : result.arrays) arrays->add(array);
      });
  if (arrays) arrays->commit();
  out.commit();
  run.finish(out.bytes());
}

}  // namespace

Run add_infer_design(CLI::App& command) {
  const auto flags = std::make_shared<DesignFlags>();
  add_input(command, flags->infer);
  add_sampling(command, *flags);
  add_structure_flags(command, flags->structures);
  add_files(command, flags->structures.request);
  add_shared_flags(command, flags->infer.shared);
  command.footer(
      std::string(
          "Each structure gives its own sequence with its score, then the samples: '>T=0.1,\n"
          "sample=1, score=..., global_score=..., seq_recovery=...', chains joined by '/'. A "
          "score\n"
          "is the mean of -log p over designed residues, a global score over all.\n\n"
          "Examples:\n"
          "  biogpu infer design --model v_48_020 backbone.pdb -o designs.fa\n"
          "  biogpu infer design --model v_48_020 structures/ -n 8 --temperature 0.1,0.3 \\\n"
          "      --omit CX -o designs.fa --save-probs probs.npz\n"
          "  biogpu infer design --model v_48_020 complex.cif.gz --chains A --fixed 'A1-10 A52'\n"
          "  biogpu infer design --model v_48_020 dimer.pdb --homooligomer --seed 7\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_design(*flags, command_line); };
}

void run_structure_score(const InferFlags& infer, const StructureFlags& flags,
                         const std::string& sequences, const std::string& command_line) {
  std::vector<infer::mpnn::GivenSequence> given;
  if (!sequences.empty()) given = infer::mpnn::read_given(sequences);
  StructureRun run(infer, flags, "infer score", command_line);
  io::OutputFile out(infer.output, 1);
  out.write(infer::mpnn::score_header());
  run.run(
      [&](const std::string& path, infer::BatchResult& result) {
        infer::mpnn::score_sequences(run.weights(), run.inputs(), run.options(), run.replay(), path,
                                     given, result);
      },
      [&](const infer::BatchResult& result) { out.write(result.text); });
  out.commit();
  run.finish(out.bytes());
}

}  // namespace biogpu::app
