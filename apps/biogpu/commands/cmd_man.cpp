// `biogpu man`: manual pages of section 1, made from the table that the command line is parsed
// with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/command_tree.hpp"
#include "lib/core/error.hpp"
#include "lib/core/version.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

// "biogpu-bwt-index" of "bwt index".
std::string man_name(const CommandEntry& command) {
  std::string name = "biogpu" + (command.path.empty() ? "" : "-" + command.path);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

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

std::string heading(const std::string& name) { return ".SH \"" + upper(name) + "\"\n"; }

std::string synopsis(const CommandEntry& command) {
  std::string text = fmt::format(".B biogpu{}{}\n", command.path.empty() ? "" : " ", command.path);
  if (!command.commands.empty()) return text + ".I COMMAND\n.RI [ OPTIONS ]\n";
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
  return fmt::format(".TP\n{}\n{}{}\n", names, escaped(option.description),
                     option.is_required ? " (required)" : "");
}

std::string options(const CommandEntry& command) {
  std::vector<std::string> groups;
  for (const OptionEntry& option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  std::string text;
  for (const bool positional : {true, false})
    for (const std::string& group : groups) {
      std::string items;
      for (const OptionEntry& option : command.options)
        if (option.group == group && option.is_positional == positional)
          items += option_item(option);
      if (items.empty()) continue;
      text += heading(positional ? "Arguments" : group) + items;
    }
  return text;
}

std::string subcommands(const CommandEntry& command) {
  if (command.commands.empty()) return {};
  std::string text = heading("Commands");
  for (const CommandEntry& below : command.commands)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(man_name(below)),
                        escaped(below.description));
  return text;
}

// The help's footer as it stands, under its own headings.
std::string notes(const CommandEntry& command) {
  std::string text;
  std::istringstream lines(command.footer);
  bool is_open = false;
  const auto begin = [&](const char* name) {
    if (is_open) text += ".EE\n";
    text += heading(name) + ".EX\n";
    is_open = true;
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Examples:")) {
      begin("Examples");
      continue;
    }
    if (line.starts_with("Exit codes:")) {
      begin("Exit status");
      line.erase(0, std::string_view("Exit codes: ").size());
    } else if (!is_open) {
      if (line.empty()) continue;
      begin("Notes");
    }
    const std::size_t first = line.find_first_not_of(' ');
    text += first == std::string::npos ? "" : escaped(line.substr(first));
    text += '\n';
  }
  if (is_open) text += ".EE\n";
  return text;
}

std::string see_also(const CommandEntry& command) {
  if (command.path.empty()) return {};
  const std::size_t last = command.path.rfind(' ');
  std::string text = heading("See also") + ".BR biogpu (1)";
  if (last != std::string::npos)
    text += fmt::format(",\n.BR {} (1)", escaped("biogpu-" + command.path.substr(0, last)));
  return text + "\n";
}

// A manual page of section 1 in the man macros, from what the help says.
std::string man_page(const CommandEntry& command) {
  const std::string name = escaped(man_name(command));
  return fmt::format(".\\\" Made by 'biogpu man'.\n.TH {} 1 \"\" \"biogpu {}\" \"User commands\"\n",
                     upper(name), kVersion) +
         heading("Name") + fmt::format("{} \\- {}\n", name, escaped(command.description)) +
         heading("Synopsis") + synopsis(command) + subcommands(command) + options(command) +
         notes(command) + see_also(command);
}

constexpr char kManFooter[] =
    "Examples:\n"
    "  biogpu man bwt index > biogpu-bwt-index.1\n"
    "  biogpu man --all man1\n\n";

struct ManFlags {
  std::vector<std::string> words;
  std::string folder;  // empty: one page to standard output
};

void write_all(const CommandEntry& root, const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::vector<io::OutputFile> files;
  for (const CommandEntry* command : list_commands(root)) {
    io::OutputFile& file = files.emplace_back(fmt::format("{}/{}.1", folder, man_name(*command)));
    file.write(man_page(*command));
    file.finish();
  }
  const io::CommitGuard guard;
  for (io::OutputFile& file : files) file.commit();
}

void run_man(const ManFlags& flags, const CommandEntry& root) {
  if (!flags.folder.empty()) return write_all(root, flags.folder);
  const std::string path = fmt::format("{}", fmt::join(flags.words, " "));
  for (const CommandEntry* command : list_commands(root))
    if (command->path == path) return print(man_page(*command));
  throw Error(ErrorCode::usage, fmt::format("no command '{}'; see 'biogpu --help'", path));
}

}  // namespace

Run add_man(CLI::App& command) {
  command.footer(kManFooter + std::string(kExitCodes));
  const auto flags = std::make_shared<ManFlags>();
  CLI::Option* const words =
      command.add_option("COMMAND", flags->words, "as bwt index; none: biogpu itself")
          ->option_text(" ");
  command.add_option("--all", flags->folder, "write the pages of all commands there")
      ->excludes(words)
      ->option_text("FOLDER");
  return
      [flags, &command](const std::string&) { run_man(*flags, describe(*command.get_parent())); };
}

}  // namespace biogpu::app
