#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// What a subcommand does once its options are parsed. command_line is for @PG and --json.
using Run = std::function<void(const std::string& command_line)>;

// Each declares its options on the subcommand and returns what runs it.
Run add_align(CLI::App& command);
Run add_bwt(CLI::App& command);
Run add_kmer(CLI::App& command);
Run add_devices(CLI::App& command);
Run add_qc(CLI::App& command);
Run add_infer(CLI::App& command);
Run add_version(CLI::App& command);

// Three lines: version, backends compiled in, devices seen.
std::string version_text();

// The last line of every help text.
inline constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad input, 4 no such device,\n"
    "            5 out of device memory, 137 out of memory, 130 and 143 interrupted";

// Writes text to standard output and fails where it could not be written.
void print(const std::string& text);

}  // namespace biogpu::app
