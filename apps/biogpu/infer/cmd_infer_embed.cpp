// `biogpu infer embed`: vectors of residues, of whole sequences or of windows of DNA.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/dna/window_run.hpp"
#include "apps/biogpu/infer/proteins/array_run.hpp"
#include "lib/core/error.hpp"
#include "lib/models/base/registry.hpp"

namespace biogpu::app {
namespace {

struct EmbedFlags : ArrayFlags {
  std::vector<std::string> include = {"mean"};
  WindowFlags windows;  // of a model of DNA; its dna.infer is not read
  std::string strands = "forward";
};

constexpr int kMaxLayer = 1 << 20;  // the model says how many it has

// Options of embed that models of one kind have.
constexpr const char* kOfProteins[] = {"--include", "--layers", "--truncate", "--allow-unknown",
                                       "--keep-rare"};
constexpr const char* kOfDna[] = {"--genome",  "--regions", "--region",  "--fit",
                                  "--n-value", "--gamma",   "--strands", "--skip-bad"};

// Throws Error{usage} for an option that the model's kind does not have.
void reject_options(const CLI::App& command, std::span<const char* const> names,
                    const std::string& model) {
  for (const char* const name : names)
    // Options that models declare are there where the build has such a model.
    if (const CLI::Option* const option = command.get_option_no_throw(name);
        option != nullptr && option->count() > 0)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {} has no {}", model,
                              models::find_model(models::ModelConfig(model)).name, name));
}

}  // namespace

Run add_infer_embed(CLI::App& command) {
  const auto flags = std::make_shared<EmbedFlags>();
  const OptionGroup options(command);
  add_array_output(command, flags->infer);
  add_list(command,
           {"--include",
            "write the mean over residues (mean), a vector for each (residues) or the first "
            "token's (cls) [mean]",
            "KIND,...", one_of({"mean", "residues", "cls"})},
           flags->include);
  add_list(
      command,
      {"--layers", "write the output of these layers: 0 the embedding, i block i, -1 the last [-1]",
       "N,...", in_range(-kMaxLayer, kMaxLayer)},
      flags->arrays.layers);
  add_infer_flags(command, flags->infer);
  add_infer_shard_flag(command, flags->infer);
  add_region_flags(command, flags->windows);
  add_letter_flags(command, flags->windows.dna);
  options
      .option("--strands", flags->strands,
              "embed DNA as it is (forward), or average a window and its reverse complement (both) "
              "[forward]",
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
    const models::ModelConfig config(flags->infer.model);
    const models::ModelDef& model = models::find_model(config);
    if (model.reads == models::Reads::dna) {
      reject_options(given, kOfProteins, flags->infer.model);
      const bool skip_bad = flags->windows.dna.infer.skip_bad;
      flags->windows.dna.infer = flags->infer;
      flags->windows.dna.infer.skip_bad = skip_bad;
      return run_window_embed(flags->windows, flags->strands == "both", command_line);
    }
    reject_options(given, kOfDna, flags->infer.model);
    flags->arrays.mean = flags->arrays.residues = flags->arrays.begin = false;
    for (const std::string& kind : flags->include)
      (kind == "mean"       ? flags->arrays.mean
       : kind == "residues" ? flags->arrays.residues
                            : flags->arrays.begin) = true;
    run_arrays(*flags, "infer embed", command_line);
  };
}

}  // namespace biogpu::app
