#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "lib/io/output/path_conflicts.hpp"

namespace biogpu::app {

// The subcommands of `biogpu kmer`.
Run add_kmer_count(CLI::App& command);
Run add_kmer_bc(CLI::App& command);
Run add_kmer_histo(CLI::App& command);
Run add_kmer_dump(CLI::App& command);
Run add_kmer_stats(CLI::App& command);
Run add_kmer_query(CLI::App& command);
Run add_kmer_merge(CLI::App& command);
Run add_kmer_set(CLI::App& command);
Run add_kmer_sketch(CLI::App& command);
Run add_kmer_dist(CLI::App& command);
Run add_kmer_info(CLI::App& command);

// Counts that an option bounds from both sides.
struct CountBounds {
  std::uint64_t lower = 0;
  std::uint64_t upper = UINT64_MAX;
  bool holds(std::uint64_t count) const { return count >= lower && count <= upper; }
};

// -L and -U, inclusive. Returns -L.
CLI::Option* add_count_bounds(const OptionGroup& group, CountBounds& bounds);

// The words of a command line behind "biogpu", split at blanks.
std::vector<std::string> split_words(const std::string& command_line);

// Throws Error{usage} where an output of these names is also one of the inputs or another output.
void check_files(const std::vector<std::string>& inputs, std::span<const io::NamedFile> outputs);
inline void check_files(const std::vector<std::string>& inputs, const std::string& output) {
  check_files(inputs, std::vector<io::NamedFile>{{"--output", output}});
}

// Throws Error{usage} where a database would be compressed, which no reader of databases takes, or
// its name has the suffix of another format.
void require_plain_name(const std::string& database,
                        const std::vector<std::string>& formats = {"jf", "bgk", "kff", "txt"});

}  // namespace biogpu::app
