#include "apps/biogpu/command_line/command_tree.hpp"

#include <string_view>

#include "apps/biogpu/command_line/help_format.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"

namespace biogpu::app {
namespace {

std::string on_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

// The words of a one_of() among the checks of an option.
std::vector<std::string> choices_of(CLI::Option& option) {
  constexpr std::string_view kBegin = kChoices;
  try {
    for (int i = 0;; ++i) {
      const std::string name = option.get_validator(i)->get_name();
      if (!name.starts_with(kBegin)) continue;
      return CLI::detail::split(name.substr(kBegin.size()), '|');
    }
  } catch (const CLI::OptionNotFound&) {  // there is no check of this number
    return {};
  }
}

OptionEntry describe_option(CLI::Option& option) {
  OptionEntry entry;
  entry.choices = choices_of(option);
  entry.is_positional = option.get_positional();
  entry.is_required = option.get_required();
  entry.group = option.get_group();
  entry.description = on_one_line(option.get_description());
  if (entry.is_positional) {
    entry.names = {positional_name(option)};
    return entry;
  }
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag) entry.value = option.get_option_text();
  if (!is_flag && entry.value.empty()) entry.value = "VALUE";
  return entry;
}

CommandEntry describe_command(CLI::App& app, const std::string& path) {
  CommandEntry entry;
  entry.path = path;
  entry.name = app.get_name();
  entry.group = app.get_group();
  entry.description = on_one_line(app.get_description());
  entry.footer = app.get_footer();
  for (CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) entry.options.push_back(describe_option(*option));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    entry.commands.push_back(describe_command(
        *command, path.empty() ? command->get_name() : path + " " + command->get_name()));
  return entry;
}

void append(const CommandEntry& command, std::vector<const CommandEntry*>& all) {
  all.push_back(&command);
  for (const CommandEntry& below : command.commands) append(below, all);
  for (const CommandEntry& mode : command.modes) append(mode, all);
}

}  // namespace

CommandEntry describe(CLI::App& root) { return describe_command(root, ""); }

std::vector<const CommandEntry*> list_commands(const CommandEntry& root) {
  std::vector<const CommandEntry*> all;
  append(root, all);
  return all;
}

}  // namespace biogpu::app
