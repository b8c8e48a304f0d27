// `biogpu infer embed`, `logits` and `contacts`: files of arrays.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/sequences.hpp"
#include "apps/biogpu/infer/window_embed.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/models/registry.hpp"
#include "lib/tasks/embed.hpp"

namespace biogpu::app {
namespace {

constexpr char kArrayFormats[] =
    "Output by suffix: .npy (rows one after the other, OUTPUT.index.tsv tells whose), .npz,\n"
    ".safetensors, .h5, .tsv. Keys are the records' names; with several arrays a record they are\n"
    "name/kind/layer. A name that comes again gets #2.\n\n";

struct ArrayFlags {
  InferFlags infer;
  tasks::ArrayOptions arrays;
  std::vector<std::string> include = {"mean"};
  WindowFlags windows;  // of a model of DNA; its dna.infer is not read
  std::string strands = "forward";
};

// Options of embed that models of one kind have.
constexpr const char* kOfProteins[] = {"--include",       "--layers",    "--truncate",
                                       "--allow-unknown", "--keep-rare", "--shard"};
constexpr const char* kOfDna[] = {"--genome",  "--regions", "--region", "--fit",
                                  "--n-value", "--gamma",   "--strands"};

// Throws Error{usage} for an option that the model's kind does not have.
void refuse_options(const CLI::App& command, std::span<const char* const> names,
                    const std::string& model) {
  for (const char* const name : names)
    if (command.get_option(name)->count() > 0)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {} has no {}", model,
                              models::find_model(models::ModelConfig(model)).name, name));
}

void add_array_output(CLI::App& command, InferFlags& flags) {
  OptionGroup(command).option("-o,--output", flags.output, "[-, TSV on stdout]", "FILE");
}

void run_arrays(const ArrayFlags& flags, const char* name, const std::string& command_line) {
  const io::ArrayFormat format = io::array_format(flags.infer.output);
  InferFlags infer = flags.infer;
  if (format == io::ArrayFormat::npy)
    infer.also_written.push_back({"the index", io::npy_index(infer.output)});
  SequenceRun run(infer, name, command_line);
  tasks::ArrayOptions options = flags.arrays;
  options.layers = tasks::resolve_layers(options.layers, run.info());
  if (options.contacts && !run.info().has_contacts)
    throw Error(ErrorCode::bad_input, flags.infer.model + ": has no contact head");
  if (options.logits && !run.info().has_logits)
    throw Error(ErrorCode::bad_input, flags.infer.model + ": has no language model head");
  const auto writer = io::make_array_writer(flags.infer.output, format);
  run.run(
      [&](models::ProteinModel& model, SequenceRun::Records& records,
          pipeline::BatchResult& result) {
        tasks::compute_arrays(model, records.names, records.sequences, options, run.budget_tokens(),
                              result);
        // The arrays of a record lie side by side, as many for each.
        for (std::size_t i = 0; i < result.arrays.size(); ++i)
          run.require_finite(result.arrays[i].values,
                             records.places[i * records.places.size() / result.arrays.size()]);
      },
      [&](const pipeline::BatchResult& result) {
        for (const io::NamedArray& array : result.arrays) writer->add(array);
      });
  run.finish(writer->bytes(), [&] { writer->commit(); });
}

// What runs a command that gives one kind of array.
Run run_one_kind(const std::shared_ptr<ArrayFlags>& flags, bool tasks::ArrayOptions::*kind,
                 const char* name) {
  return [=](const std::string& command_line) {
    flags->arrays = {};
    flags->arrays.mean = false;
    flags->arrays.*kind = true;
    run_arrays(*flags, name, command_line);
  };
}

}  // namespace

Run add_infer_embed(CLI::App& command) {
  const auto flags = std::make_shared<ArrayFlags>();
  const OptionGroup options(command);
  add_array_output(command, flags->infer);
  options
      .option("--include", flags->include,
              "mean (over residues), residues (a vector each), cls [mean]", "KIND,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(one_of({"mean", "residues", "cls"}));
  options
      .option("--layers", flags->arrays.layers,
              "0 the embedding, i after block i, -1 the last [-1]", "N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_infer_flags(command, flags->infer);
  add_infer_shard_flag(command, flags->infer);
  add_region_flags(command, flags->windows);
  add_letter_flags(command, flags->windows.dna);
  options
      .option("--strands", flags->strands,
              "DNA: forward, or both (the mean of a window and its reverse complement) [forward]",
              "WHICH")
      ->transform(one_of({"forward", "both"}));
  command.footer(std::string(kArrayFormats) +
                 "Models of DNA give an array [bins, width] of each window, and take windows as\n"
                 "'infer tracks' does; --include and --layers are for proteins.\n\n"
                 "Examples:\n"
                 "  biogpu infer embed --model esm2_t6_8M_UR50D proteins.fasta -o out.npy\n"
                 "  biogpu infer embed --model enformer --genome genome.fa --regions peaks.bed \\\n"
                 "      -o bins.h5\n"
                 "  biogpu infer embed --model esm2_t33_650M_UR50D --include residues,mean \\\n"
                 "      --layers 30,-1 proteins.fa.gz -o out.h5 --resume\n\n" +
                 kExitCodes);
  return [flags](const std::string& command_line) {
    const CLI::App& given = *flags->infer.command;
    const models::ModelDef& model = models::find_model(models::ModelConfig(flags->infer.model));
    if (model.reads == models::Reads::dna) {
      refuse_options(given, kOfProteins, flags->infer.model);
      flags->windows.dna.infer = flags->infer;
      return run_window_embed(flags->windows, flags->strands == "both", command_line);
    }
    refuse_options(given, kOfDna, flags->infer.model);
    flags->arrays.mean = flags->arrays.residues = flags->arrays.begin = false;
    for (const std::string& kind : flags->include)
      (kind == "mean"       ? flags->arrays.mean
       : kind == "residues" ? flags->arrays.residues
                            : flags->arrays.begin) = true;
    run_arrays(*flags, "infer embed", command_line);
  };
}

Run add_infer_logits(CLI::App& command) {
  const auto flags = std::make_shared<ArrayFlags>();
  add_array_output(command, flags->infer);
  add_infer_flags(command, flags->infer);
  add_infer_shard_flag(command, flags->infer);
  command.footer(std::string(kArrayFormats) +
                 "Columns are the words of the vocabulary; 'biogpu infer info' lists them.\n\n"
                 "Examples:\n"
                 "  biogpu infer logits --model esm2_t6_8M_UR50D proteins.fasta -o logits.npz\n\n" +
                 kExitCodes);
  return run_one_kind(flags, &tasks::ArrayOptions::logits, "infer logits");
}

Run add_infer_contacts(CLI::App& command) {
  const auto flags = std::make_shared<ArrayFlags>();
  add_array_output(command, flags->infer);
  add_infer_flags(command, flags->infer);
  command.footer(
      std::string(kArrayFormats) +
      "Examples:\n"
      "  biogpu infer contacts --model esm2_t33_650M_UR50D protein.fa -o contacts.npz\n\n" +
      kExitCodes);
  return run_one_kind(flags, &tasks::ArrayOptions::contacts, "infer contacts");
}

}  // namespace biogpu::app
