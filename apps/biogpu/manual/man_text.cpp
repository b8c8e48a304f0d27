// Manual pages of section 1 in the man macros, which man and mandoc read.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/manual/manual_page.hpp"
#include "lib/core/version.hpp"

namespace biogpu::app {
namespace {

// Text that troff takes as it is: dashes stay dashes, and no line is taken for a request.
std::string escaped(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    begins_line = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string heading(std::string_view name) {
  return fmt::format(".SH {}\n", upper(std::string(name)));
}

std::string item(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", term, escaped(text));
}

std::string synopsis(const CommandEntry& command) {
  std::string text = fmt::format(".B biogpu{}{}\n", command.path.empty() ? "" : " ", command.path);
  if (!command.commands.empty()) return text + ".I COMMAND\n.RI [ OPTIONS ]\n";
  for (const OptionEntry& option : command.options)
    if (!option.is_positional && option.is_required)
      text += fmt::format(".B {}\n.I {}\n", escaped(option.names.back()), escaped(option.value));
  text += ".RI [ OPTIONS ]\n";
  for (const OptionEntry& option : command.options)
    if (option.is_positional)
      text += option.is_required ? fmt::format(".I {}\n", escaped(option.names[0]))
                                 : fmt::format(".RI [ {} ]\n", escaped(option.names[0]));
  return text;
}

std::string option_item(const OptionEntry& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
  if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", escaped(option.value));
  std::string text = as_sentence(option.description);
  if (option.is_required && !option.is_positional) text += " Required.";
  return item(names, text);
}

std::string options(const CommandEntry& command) {
  std::vector<std::string> groups;
  for (const OptionEntry& option : command.options)
    if (!option.is_positional &&
        std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  std::string arguments, text;
  for (const OptionEntry& option : command.options)
    if (option.is_positional) arguments += option_item(option);
  for (const std::string& group : groups) {
    if (group != "Options") text += fmt::format(".SS {}\n", escaped(group));
    for (const bool required : {true, false})
      for (const OptionEntry& option : command.options)
        if (option.group == group && !option.is_positional && option.is_required == required)
          text += option_item(option);
  }
  return (arguments.empty() ? "" : heading("Arguments") + arguments) + heading("Options") + text;
}

std::string subcommands(const CommandEntry& command) {
  if (command.commands.empty()) return {};
  std::string text = heading("Commands");
  for (const CommandEntry& below : command.commands)
    text += item(fmt::format("\\fB{}\\fR(1)", escaped(manual_name(below))),
                 as_sentence(below.description));
  return text;
}

std::string description(const ManualPage& page) {
  std::string text = heading("Description");
  for (std::size_t i = 0; i < page.description.size(); ++i)
    text += fmt::format("{}{}\n", i > 0 ? ".PP\n" : "", escaped(page.description[i]));
  return text;
}

std::string entries(std::string_view name, const std::vector<ManualPage::Entry>& list) {
  if (list.empty()) return {};
  std::string text = heading(name);
  for (const ManualPage::Entry& entry : list)
    text += item(fmt::format("\\fB{}\\fR", escaped(entry.name)), entry.text);
  return text;
}

std::string examples(const ManualPage& page) {
  if (page.examples.empty()) return {};
  std::string text = heading("Examples") + ".EX\n";
  for (const std::string& line : page.examples) text += escaped(line) + "\n";
  return text + ".EE\n";
}

std::string see_also(const CommandEntry& command) {
  std::string names;
  const auto add = [&](const std::string& name) {
    names += fmt::format("{}.BR {} (1)", names.empty() ? "" : ",\n", escaped(name));
  };
  if (!command.path.empty()) add("biogpu");
  if (const std::size_t last = command.path.rfind(' '); last != std::string::npos)
    add(fmt::format("biogpu-{}", command.path.substr(0, last)));
  if (command.path.empty()) add("biogpu-help");
  const std::string top = command.path.substr(0, command.path.find(' '));
  return heading("See also") + names +
         fmt::format(
             "\n.PP\nThe manual in share/doc/biogpu/docs has a guide by task, and examples "
             "with their output{}.\n",
             top.empty() || top == "version"
                 ? ""
                 : fmt::format(" on the page commands/{}.md", escaped(top)));
}

constexpr std::string_view kReporting =
    "Add the output of 'biogpu version', the command line and the smallest input that shows the "
    "bug. 'biogpu devices' says why a GPU is not used. The page troubleshooting.md of the manual "
    "explains all messages.";

}  // namespace

std::string man_text(const CommandEntry& command, std::string_view date) {
  const ManualPage page = manual_page(command);
  const std::string name = escaped(page.name);
  return fmt::format(
             ".\\\" Made by 'biogpu man'.\n.TH {} 1 \"{}\" \"biogpu {}\" \"User commands\"\n",
             upper(name), date, kVersion) +
         heading("Name") + fmt::format("{} \\- {}\n", name, escaped(command.description)) +
         heading("Synopsis") + synopsis(command) + description(page) + subcommands(command) +
         options(command) + entries("Environment", page.environment) +
         entries("Files", page.files) + entries("Exit status", page.exit_status) + examples(page) +
         heading("Reporting bugs") + escaped(kReporting) + "\n" + see_also(command);
}

}  // namespace biogpu::app
