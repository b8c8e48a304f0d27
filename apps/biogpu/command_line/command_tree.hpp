#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// The command line as data: what completions and manual pages are printed from.
struct OptionEntry {
  std::vector<std::string> names;  // with dashes; of a positional its name
  std::string value;               // as FILE; empty: a flag, or a positional
  std::string description;         // on one line
  std::string group;
  std::vector<std::string> choices;  // the words that the value is one of; empty: another value
  bool is_positional = false;
  bool is_required = false;
};

struct CommandEntry {
  std::string path;  // as "bwt index"; empty: biogpu itself
  std::string name;
  std::string group;
  std::string description;
  std::string footer;
  std::vector<OptionEntry> options;  // those that the help shows
  std::vector<CommandEntry> commands;
  std::vector<CommandEntry> modes;  // with a parser of their own, beside the command's arguments
};

CommandEntry describe(CLI::App& root);

// The command and all below it, parents first.
std::vector<const CommandEntry*> list_commands(const CommandEntry& root);

}  // namespace biogpu::app
