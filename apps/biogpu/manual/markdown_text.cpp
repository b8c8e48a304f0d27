// The options of commands as pages of the manual.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/manual/manual_page.hpp"

namespace biogpu::app {
namespace {

// Text in a cell of a table: no sign of it is taken for Markdown.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("|*_<>[]\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Between backticks, where only the sign of a column has to be escaped.
std::string code(std::string_view text) {
  std::string out = "`";
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out + "`";
}

std::string row(const OptionEntry& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", code(name));
  if (!option.value.empty()) names += fmt::format(" {}", code(option.value));
  std::string text = cell(as_sentence(option.description));
  if (option.is_required && !option.is_positional) text += " Required.";
  return fmt::format("| {} | {} |\n", names, text);
}

std::string table(const CommandEntry& command, const std::string& group, bool positional) {
  std::string rows;
  for (const bool required : {true, false})
    for (const OptionEntry& option : command.options)
      if (option.is_positional == positional && option.is_required == required &&
          (positional || option.group == group))
        rows += row(option);
  if (rows.empty()) return {};
  return fmt::format("\n| {} | |\n| --- | --- |\n{}", positional ? "argument" : "option", rows);
}

std::string usage(const CommandEntry& command) {
  std::string text = "biogpu " + command.path;
  if (!command.commands.empty()) return text + " COMMAND [OPTIONS]";
  for (const OptionEntry& option : command.options)
    if (!option.is_positional && option.is_required)
      text += fmt::format(" {} {}", option.names.back(), option.value);
  text += " [OPTIONS]";
  for (const OptionEntry& option : command.options)
    if (option.is_positional)
      text += option.is_required ? " " + option.names[0] : " [" + option.names[0] + "]";
  return text;
}

std::string option_tables(const CommandEntry& command) {
  std::vector<std::string> groups;
  for (const OptionEntry& option : command.options)
    if (!option.is_positional &&
        std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  std::string text = table(command, "", true);
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += fmt::format("\n**{}**\n", group);
    text += table(command, group, false);
  }
  return text;
}

std::string section(const CommandEntry& command, const char* level) {
  const ManualPage page = manual_page(command);
  std::string text = fmt::format("\n{} biogpu {}\n\n{}\n\n```\n{}\n```\n", level, command.path,
                                 cell(page.description.front()), usage(command));
  if (command.commands.empty()) text += option_tables(command);
  return text;
}

}  // namespace

std::string markdown_text(const CommandEntry& command) {
  const std::string top = command.path.substr(0, command.path.find(' '));
  std::string text = fmt::format(
      "# Options of biogpu {}\n\n<!-- Made by 'biogpu man --markdown'; do not edit. -->\n\n"
      "This page has each option of the command, in the words of `--help`.",
      command.path);
  if (top != "version")
    text += fmt::format(" [The page of the command](../{}.md) has examples and explanations.", top);
  text += "\n";
  for (const CommandEntry* below : list_commands(command)) text += section(*below, "##");
  return text;
}

}  // namespace biogpu::app
