#pragma once

#include <string_view>

namespace biogpu::app {

// Touching a mapped file that became shorter (SIGBUS) ends the run with one line that names the
// file and exit code 1, without unfinished outputs. command: for that line.
void install_bus_error_handler(std::string_view command);

}  // namespace biogpu::app
