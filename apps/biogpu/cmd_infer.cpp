#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/infer_commands.hpp"

namespace biogpu::app {
namespace {

struct InferCommand {
  const char* name;
  const char* group;
  const char* description;
  Run (*add)(CLI::App& command);
};

constexpr InferCommand kInferCommands[] = {
    {"embed", "Proteins", "vectors of residues or whole sequences", add_infer_embed},
    {"logits", "Proteins", "scores of all residues at every position", add_infer_logits},
    {"fill-mask", "Proteins", "likely residues at masked positions", add_infer_fill_mask},
    {"score", "Proteins", "likelihood of sequences, effect of variants", add_infer_score},
    {"contacts", "Proteins", "probability that two residues touch", add_infer_contacts},
    {"design", "Structures", "sequences that fold into a backbone", add_infer_design},
    {"info", "Model", "what a model folder holds", add_infer_info},
    {"bench", "Model", "time, rate and error of kernels and whole passes", add_infer_bench},
};

constexpr char kFooter[] =
    "Examples:\n"
    "  biogpu infer embed --model esm2_t33_650M_UR50D proteins.fasta -o out.npy\n"
    "  biogpu infer score --model esm2_t33_650M_UR50D --variants dms.tsv wild_type.fa\n"
    "  biogpu infer design --model v_48_020 backbone.pdb -o designs.fa\n\n";

}  // namespace

Run add_infer(CLI::App& command) {
  command.require_subcommand(1);
  command.footer(std::string(kFooter) + kExitCodes);
  const auto runs = std::make_shared<std::vector<std::pair<CLI::App*, Run>>>();
  for (const InferCommand& entry : kInferCommands) {
    CLI::App* sub = command.add_subcommand(entry.name, entry.description)->group(entry.group);
    runs->emplace_back(sub, entry.add(*sub));
  }
  return [runs](const std::string& command_line) {
    for (const auto& [sub, run] : *runs)
      if (sub->parsed()) run(command_line);
  };
}

}  // namespace biogpu::app
