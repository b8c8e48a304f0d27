#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// What a subcommand does once its options are parsed. command_line is for @PG and --json.
using Run = std::function<void(const std::string& command_line)>;

struct Subcommand {
  const char* name;
  const char* description;
  Run (*add)(CLI::App& command);  // declares its options and returns what runs it
  const char* group = nullptr;    // its heading in the help; null: CLI11's own
  bool shows_others = false;      // it prints the options of other commands
};

// Adds a table of subcommands, one of which has to be given, and ends the help with the footer and
// the exit codes. Returns what runs the one that was parsed. Where `first_word` of the command line
// names one of them that does not show the others, these have no options: declaring all takes 2 ms.
Run add_subcommands(CLI::App& command, std::span<const Subcommand> table, const std::string& footer,
                    std::string_view first_word = {});

// The words of a command line with each `--name=` as two, the second of which is empty: CLI11 would
// take the word behind it for the value.
std::vector<std::string> separate_empty_values(const std::vector<std::string>& words);

// The subcommands of `biogpu`.
Run add_align(CLI::App& command);
Run add_bwt(CLI::App& command);
Run add_kmer(CLI::App& command);
Run add_devices(CLI::App& command);
Run add_qc(CLI::App& command);
Run add_qc_merge(CLI::App& command);
Run add_gather(CLI::App& command);
Run add_help(CLI::App& command);
Run add_infer(CLI::App& command);
Run add_lab(CLI::App& command);
Run add_cite(CLI::App& command);
Run add_completion(CLI::App& command);
Run add_man(CLI::App& command);
Run add_version(CLI::App& command);

// The help of a command, whose path is as "biogpu bwt index".
std::string help_text(const CLI::App& command, const std::string& path);

// Three lines: version, backends compiled in, devices seen.
std::string version_text();

// Of this build; empty where it was made from an archive.
std::string build_commit();
// The day of that commit, as 2026-11-29.
std::string build_date();

// The last line of every help text.
inline constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad input, 4 no such device,\n"
    "            5 out of device memory, 137 out of memory, 130 and 143 interrupted";

// Writes text to standard output and fails where it could not be written.
void print(const std::string& text);

}  // namespace biogpu::app
