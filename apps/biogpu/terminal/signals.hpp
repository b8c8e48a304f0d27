#pragma once

#include <string_view>

namespace biogpu::app {

// SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU remove unfinished outputs, end the
// processes that were started (child_processes.hpp) and end with 128 and the
// signal's number; while outputs get their names they wait. SIGPIPE and SIGXFSZ are ignored, so
// that a closed pipe and a size limit are errors of the write that met them.
void install_signal_handlers();

// Touching a mapped file that became shorter (SIGBUS) ends the run with one line that names the
// file and exit code 1, without unfinished outputs. command: for that line. Returns what
// the line begins with, "biogpu COMMAND: ", which stays where it is.
const char* install_bus_error_handler(std::string_view command);

}  // namespace biogpu::app
