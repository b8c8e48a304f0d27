#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/biogpu/kmer_commands.hpp"
#include "apps/biogpu/shared_flags.hpp"
#include "lib/kmer/database/header.hpp"

namespace biogpu::app {

// The options of `biogpu kmer count` as they were given.
struct CountFlags {
  SharedFlags shared;
  std::vector<std::string> inputs;
  std::string out_path = "mer_counts.jf";
  int k = 0;
  std::uint64_t size = 0;  // 0: not given
  bool canonical = false;
  int counter_bits = 7;
  int counter_bytes = 4;
  CountBounds bounds{1, UINT64_MAX};
  std::string min_qual_char;
  int quality_start = 64;
  int min_quality = -1;  // below 0: not given
  bool text = false;
  bool no_provenance = false;
  std::string tmp_dir;

  // The lowest quality symbol that counts, 0 for all.
  char least_quality() const;
  // By the name of the output and --text.
  kmer::Format format() const;
  // Throws Error{usage} where options contradict each other. Calls shared.resolve().
  void resolve();
};

void add_count_flags(CLI::App& command, CountFlags& flags);

}  // namespace biogpu::app
