#include "apps/biogpu/command_line/command.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

// An empty value is what a shell leaves of a variable that is not set. No option has a meaning for
// it: CLI11 reads it as 0, and for a file it would mean "not given".
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* const option : command.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    const std::string type = option->get_type_name();
    const bool is_number =
        type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT");
    option->check([is_number](const std::string& text) {
      if (!text.empty()) return std::string();
      return is_number ? std::string("''; expected a number") : describe_empty_value();
    });
  }
}

}  // namespace

Run add_subcommands(CLI::App& command, std::span<const Subcommand> table, const std::string& footer,
                    std::string_view first_word) {
  const bool only_one = std::any_of(table.begin(), table.end(), [&](const Subcommand& entry) {
    return entry.name == first_word && !entry.shows_others;
  });
  command.require_subcommand(1);
  command.footer(footer + kExitCodes);
  std::vector<std::pair<const CLI::App*, Run>> runs;
  for (const Subcommand& entry : table) {
    CLI::App* const added = command.add_subcommand(entry.name, entry.description);
    if (entry.group != nullptr) added->group(entry.group);
    added->set_version_flag("--version", version_text, "print version, backends and devices")
        ->group("");
    if (only_one && entry.name != first_word) continue;
    runs.emplace_back(added, entry.add(*added));
    refuse_empty_values(*added);
  }
  return [runs = std::move(runs)](const std::string& command_line) {
    for (const auto& [added, run] : runs)
      if (added->parsed()) run(command_line);
  };
}

std::vector<std::string> separate_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> separated;
  const auto end_of_options = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != words.end(); ++word) {
    separated.push_back(*word);
    const bool is_empty = word < end_of_options && word->size() > 3 && word->starts_with("--") &&
                          word->find('=') == word->size() - 1;
    if (!is_empty) continue;
    separated.back().pop_back();
    separated.emplace_back();
  }
  return separated;
}

std::string help_text(const CLI::App& command, const std::string& path) {
  // Not help(), which goes on to the command that was parsed.
  std::string help = command.get_formatter()->make_help(&command, path, CLI::AppFormatMode::Normal);
  // CLI11 leaves two empty lines between groups.
  for (std::size_t at; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
  return help;
}

void print(const std::string& text) {
  io::OutputFile out("-");
  out.write(text);
  out.commit();
}

}  // namespace biogpu::app
