#pragma once

#include <string>

#include "apps/biogpu/command_tree.hpp"

namespace biogpu::app {

// "biogpu-bwt-index" of "bwt index".
std::string man_name(const CommandEntry& command);

// A manual page of section 1 in the man macros, from what the help says.
std::string man_page(const CommandEntry& command);

}  // namespace biogpu::app
