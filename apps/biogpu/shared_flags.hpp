#pragma once

#include <CLI/CLI.hpp>

#include "apps/biogpu/shared_options.hpp"

namespace biogpu::app {

// Declares the options of SharedFlags on a command.
void add_shared_flags(CLI::App& command, SharedFlags& flags);

}  // namespace biogpu::app
