#pragma once

#include <string>

#include "apps/biogpu/command_line/command_tree.hpp"

namespace biogpu::app {

// The options of parasail_aligner as getopt takes them: ":a:A:b:...".
std::string parasail_getopt_text();

// The help of `biogpu align parasail`.
std::string parasail_help();

// Adds the entry with its options below `align` of a described command line: the parser of biogpu
// does not see it.
void add_parasail_entry(CommandEntry& root);

}  // namespace biogpu::app
