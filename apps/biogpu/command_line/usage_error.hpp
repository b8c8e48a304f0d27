#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// What is wrong with a command line that did not parse, in one line that names the option, what was
// found and what was expected. The parser's own texts, which speak of its classes, are not used.
// words: the command line without the program's name.
std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error,
                                 const std::vector<std::string>& words);

// "; did you mean 'index'?" for the candidate that a word was meant for; empty where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// What an unknown first word may have been meant for: a command, or one below a command.
std::string suggest_command(const CLI::App& app, std::string_view word);

// The names of the commands below one.
std::vector<std::string> command_names(const CLI::App& app);

}  // namespace biogpu::app
