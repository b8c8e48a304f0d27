#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// What users of other programs type, and what it is here. Empty where a word is no known habit.

// "; see 'biogpu qc --help'" for the name of a program or a task in the place of a command.
std::string hint_for_command(std::string_view word);

// "; k is -m/--mer-len" for an option that a command does not have, by what it has.
std::string hint_for_option(const CLI::App& command, std::string_view option);

// "; the reads are named by -i and -I" for a word that no argument of a command takes.
std::string hint_for_argument(const CLI::App& command);

}  // namespace biogpu::app
