// `biogpu infer logits`: scores of all residues at every position.
#include <memory>
#include <string>

#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/proteins/array_run.hpp"

namespace biogpu::app {

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

}  // namespace biogpu::app
