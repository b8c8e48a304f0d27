// `biogpu completion`: what a shell needs to complete commands and options.
#include <memory>
#include <string>

#include "apps/biogpu/command.hpp"
#include "apps/biogpu/completion.hpp"
#include "apps/biogpu/value_checks.hpp"

namespace biogpu::app {
namespace {

constexpr char kCompletionFooter[] =
    "Examples:\n"
    "  source <(biogpu completion bash)\n"
    "  biogpu completion zsh > _biogpu\n"
    "  biogpu completion fish > biogpu.fish\n\n";

}  // namespace

Run add_completion(CLI::App& command) {
  command.footer(kCompletionFooter + std::string(kExitCodes));
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->transform(one_of({"bash", "zsh", "fish"}))
      ->option_text(" ");
  return [shell, &command](const std::string&) {
    const CommandEntry root = describe(*command.get_parent());
    print(*shell == "bash"  ? bash_completion(root)
          : *shell == "zsh" ? zsh_completion(root)
                            : fish_completion(root));
  };
}

}  // namespace biogpu::app
