#pragma once

#include <functional>
#include <string>

namespace biogpu::app {

// Runs the commands of a file, one a line, with a shell; empty lines and lines that begin with #
// are left out. read(command, path) reads what a command writes, from a path; up to n_at_once are
// run and read at a time, each by one thread. shell: empty for SHELL, else /bin/sh.
// Errors: Error{failed} where the file cannot be read, a command cannot be started or fails; what
// read() throws, with the command named.
void run_generators(
    const std::string& path, const std::string& shell, int n_at_once,
    const std::function<void(const std::string& command, const std::string& path)>& read);

}  // namespace biogpu::app
