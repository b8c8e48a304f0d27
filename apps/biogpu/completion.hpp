#pragma once

#include <string>

#include "apps/biogpu/command_tree.hpp"

namespace biogpu::app {

// Scripts that complete commands, options and file names.
std::string bash_completion(const CommandEntry& root);
std::string zsh_completion(const CommandEntry& root);
std::string fish_completion(const CommandEntry& root);

}  // namespace biogpu::app
