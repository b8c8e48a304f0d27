#pragma once

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/command.hpp"

namespace biogpu::app {

// The subcommands of `biogpu lab`.
Run add_lab_list(CLI::App& command);
Run add_lab_run(CLI::App& command);

}  // namespace biogpu::app
