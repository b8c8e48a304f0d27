// `biogpu infer info`: what a model folder holds.
#include <memory>
#include <string>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "lib/models/base/registry.hpp"

namespace biogpu::app {

Run add_infer_info(CLI::App& command) {
  const auto model = std::make_shared<std::string>();
  OptionGroup(command)
      .option("MODEL", *model, "model folder with config.json and safetensors", " ")
      ->required();
  command.footer(std::string("Examples:\n  biogpu infer info esm2_t6_8M_UR50D\n\n") + kExitCodes);
  return [model](const std::string&) { print(models::describe_model(*model)); };
}

}  // namespace biogpu::app
