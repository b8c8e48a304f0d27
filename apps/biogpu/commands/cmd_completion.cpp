// `biogpu completion`: scripts with which bash, zsh and fish complete commands, options and file
// names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/command_tree.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/parasail/options.hpp"

namespace biogpu::app {
namespace {

std::vector<std::string> names_of_options(const CommandEntry& command, bool only_with_value) {
  std::vector<std::string> names;
  for (const OptionEntry& option : command.options)
    if (!option.is_positional && (!only_with_value || !option.value.empty()))
      names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> names_of_commands(const CommandEntry& command) {
  std::vector<std::string> names;
  names.reserve(command.commands.size());
  for (const CommandEntry& below : command.commands) names.push_back(below.name);
  for (const OptionEntry& option : command.options)
    if (option.is_positional)
      names.insert(names.end(), option.choices.begin(), option.choices.end());
  return names;
}

// "names of an option", "its choices", as each shell's own lines.
std::string lines_of_choices(const CommandEntry& command,
                             fmt::format_string<std::string, std::string> line,
                             const char* between_names) {
  std::string lines;
  for (const OptionEntry& option : command.options)
    if (!option.is_positional && !option.choices.empty())
      lines += fmt::format(line, fmt::format("{}", fmt::join(option.names, between_names)),
                           fmt::format("{}", fmt::join(option.choices, " ")));
  return lines;
}

// 'text' for the shells, all of which end a quoted text, escape a quote and start again.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// "bwt"|"bwt index"|...: the paths that a word may lead to, as a pattern of `case`.
std::string path_pattern(const CommandEntry& root) {
  std::string pattern;
  for (const CommandEntry* command : list_commands(root))
    if (!command->path.empty())
      pattern += fmt::format("{}\"{}\"", pattern.empty() ? "" : "|", command->path);
  return pattern;
}

std::string bash_completion(const CommandEntry& root) {
  std::string text = fmt::format(
      "# bash completion of biogpu; made by 'biogpu completion bash'.\n"
      "_biogpu() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  # --name=value is three words.\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == = ]]; then\n"
      "    previous=${{COMP_WORDS[COMP_CWORD - 2]}}\n"
      "  fi\n"
      "  local command= commands= options= with_value= choices= word i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=\"${{command:+$command }}${{COMP_WORDS[i]}}\"\n"
      "    case $word in\n"
      "      {}) command=$word ;;\n"
      "      *) break ;;\n"
      "    esac\n"
      "  done\n"
      "  case $command in\n",
      path_pattern(root));
  for (const CommandEntry* command : list_commands(root))
    text += fmt::format(
        "    \"{}\")\n"
        "      commands=\"{}\"\n"
        "      options=\"{}\"\n"
        "      with_value=\" {} \"\n"
        "      case $previous in\n"
        "        -) ;;\n"
        "{}"
        "      esac\n"
        "      ;;\n",
        command->path, fmt::join(names_of_commands(*command), " "),
        fmt::join(names_of_options(*command, false), " "),
        fmt::join(names_of_options(*command, true), " "),
        lines_of_choices(*command, "        {}) choices=\"{}\" ;;\n", "|"));
  text +=
      "  esac\n"
      "  COMPREPLY=()\n"
      "  if [[ -n $choices ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$current\")\n"
      "    return\n"
      "  fi\n"
      "  # A value or an input: the shell's own file names.\n"
      "  [[ $with_value == *\" $previous \"* ]] && return\n"
      "  if [[ $current == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
      "  elif [[ -n $commands ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$current\")\n"
      "  fi\n"
      "}\n"
      "complete -o default -F _biogpu biogpu\n";
  return text;
}

std::string zsh_completion(const CommandEntry& root) {
  // _describe takes 'name:text'.
  const auto described = [](const std::string& name, const std::string& description) {
    std::string text;
    for (const char c : name) text += c == ':' ? std::string("\\:") : std::string(1, c);
    return quoted(text + ":" + description);
  };
  std::string text = fmt::format(
      "#compdef biogpu\n"
      "# zsh completion of biogpu; made by 'biogpu completion zsh'.\n"
      "_biogpu() {{\n"
      "  local command= word\n"
      "  local -a commands options with_value\n"
      "  local -A choices\n"
      "  integer i\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    word=\"${{command:+$command }}${{words[i]}}\"\n"
      "    case $word in\n"
      "      ({}) command=$word ;;\n"
      "      (*) break ;;\n"
      "    esac\n"
      "  done\n"
      "  case $command in\n",
      path_pattern(root));
  for (const CommandEntry* command : list_commands(root)) {
    text += fmt::format("    (\"{}\")\n      commands=(\n", command->path);
    for (const CommandEntry& below : command->commands)
      text += fmt::format("        {}\n", described(below.name, below.description));
    for (const OptionEntry& option : command->options)
      for (const std::string& choice : option.choices)
        if (option.is_positional)
          text += fmt::format("        {}\n", described(choice, option.description));
    text += "      )\n      options=(\n";
    for (const OptionEntry& option : command->options)
      for (const std::string& name : option.names)
        if (!option.is_positional)
          text += fmt::format("        {}\n", described(name, option.description));
    text += fmt::format("      )\n      with_value=({})\n      choices=(\n",
                        fmt::join(names_of_options(*command, true), " "));
    for (const OptionEntry& option : command->options)
      for (const std::string& name : option.names)
        if (!option.is_positional && !option.choices.empty())
          text += fmt::format("        {} {}\n", quoted(name),
                              quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    text += "      )\n      ;;\n";
  }
  text +=
      "  esac\n"
      "  if [[ -n ${choices[${words[CURRENT - 1]}]} ]]; then\n"
      "    compadd -- ${=choices[${words[CURRENT - 1]}]}\n"
      "  elif ((${with_value[(Ie)${words[CURRENT - 1]}]})); then\n"
      "    _files\n"
      "  elif [[ $PREFIX == -* ]]; then\n"
      "    _describe -o option options\n"
      "  elif ((${#commands})); then\n"
      "    _describe command commands\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}\n"
      "if [[ ${funcstack[1]} == _biogpu ]]; then\n"
      "  _biogpu \"$@\"\n"
      "else\n"
      "  compdef _biogpu biogpu\n"
      "fi\n";
  return text;
}

std::string fish_completion(const CommandEntry& root) {
  std::string paths;
  for (const CommandEntry* command : list_commands(root))
    if (!command->path.empty()) paths += fmt::format(" '{}'", command->path);
  std::string text = fmt::format(
      "# fish completion of biogpu; made by 'biogpu completion fish'.\n"
      "function __biogpu_at\n"
      "    set -l words (commandline -opc)\n"
      "    set -l path\n"
      "    for word in $words[2..-1]\n"
      "        contains -- (string join -- ' ' $path $word){}\n"
      "        and set -a path $word\n"
      "        or break\n"
      "    end\n"
      "    test \"$path\" = \"$argv[1]\"\n"
      "end\n",
      paths);
  for (const CommandEntry* command : list_commands(root)) {
    const std::string begin = fmt::format("complete -c biogpu -n {}",
                                          quoted(fmt::format("__biogpu_at \"{}\"", command->path)));
    for (const CommandEntry& below : command->commands)
      text += fmt::format("{} -f -a {} -d {}\n", begin, below.name, quoted(below.description));
    for (const OptionEntry& option : command->options) {
      const std::string choices = quoted(fmt::format("{}", fmt::join(option.choices, " ")));
      if (option.is_positional) {
        if (!option.choices.empty()) text += fmt::format("{} -f -a {}\n", begin, choices);
        continue;
      }
      text += begin;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + quoted(name.substr(1));
      if (!option.choices.empty()) text += fmt::format(" -f -a {}", choices);
      text +=
          fmt::format("{} -d {}\n", option.value.empty() ? "" : " -r", quoted(option.description));
    }
  }
  return text;
}

constexpr char kCompletionFooter[] =
    "Examples:\n"
    "  source <(biogpu completion bash)\n"
    "  biogpu completion zsh > _biogpu\n"
    "  biogpu completion fish > biogpu.fish\n\n";

}  // namespace

Run add_completion(CLI::App& command) {
  command.footer(kCompletionFooter + std::string(kExitCodes));
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "shell of the script: bash, zsh or fish")
      ->required()
      ->transform(one_of({"bash", "zsh", "fish"}))
      ->option_text(" ");
  return [shell, &command](const std::string&) {
    CommandEntry root = describe(*command.get_parent());
    add_parasail_entry(root);
    print(*shell == "bash"  ? bash_completion(root)
          : *shell == "zsh" ? zsh_completion(root)
                            : fish_completion(root));
  };
}

}  // namespace biogpu::app
