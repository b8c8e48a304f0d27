// `biogpu infer contacts`: the probability that two residues touch.
#include <memory>
#include <string>

#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/proteins/array_run.hpp"

namespace biogpu::app {

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
