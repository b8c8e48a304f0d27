// `biogpu help`: the help of a command, for those who look for it there.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/usage_error.hpp"
#include "apps/biogpu/parasail/options.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

constexpr char kHelpFooter[] =
    "Examples:\n"
    "  biogpu help qc\n"
    "  biogpu help kmer count\n\n";

void run_help(const CLI::App& root, const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"align", "parasail"}) return print(parasail_help());
  const CLI::App* command = &root;
  std::string path = "biogpu";
  for (const std::string& word : words) {
    const auto below = command->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == word; });
    if (below.empty()) {
      const std::string nearest = did_you_mean(word, command_names(*command));
      throw Error(ErrorCode::usage,
                  fmt::format("no command {}{}", biogpu::quoted(word),
                              nearest.empty() ? fmt::format("; see '{} --help'", path) : nearest));
    }
    command = below.front();
    path += " " + word;
  }
  print(help_text(*command, path));
}

}  // namespace

Run add_help(CLI::App& command) {
  command.footer(kHelpFooter + std::string(kExitCodes));
  const auto words = std::make_shared<std::vector<std::string>>();
  command
      .add_option("COMMAND", *words, "command whose help is printed, as kmer count [biogpu itself]")
      ->option_text(" ");
  return [words, &command](const std::string&) { run_help(*command.get_parent(), *words); };
}

}  // namespace biogpu::app
