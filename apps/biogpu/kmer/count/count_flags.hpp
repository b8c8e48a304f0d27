#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/count/input.hpp"
#include "lib/kmer/count/counter.hpp"
#include "lib/kmer/database/header.hpp"

namespace biogpu::app {

// The options of `biogpu kmer count` as they were given.
struct CountFlags {
  SharedFlags shared;
  KmerInputFlags input;
  std::string out_path = "mer_counts.jf";
  int k = 0;
  std::uint64_t size = 0;  // 0: not given
  bool canonical = false;
  std::uint32_t counter_bits = 7;
  int counter_bytes = 4;
  int reprobes = 126;
  bool ignored = false;
  CountBounds bounds;
  std::string min_qual_char;
  int quality_start = 64;
  int min_quality = -1;  // below 0: not given
  std::vector<std::string> only_in;
  std::string bloom_counter;
  std::uint64_t bloom_size = 0;  // 0: not given
  double bloom_rate = 0.01;
  bool text = false;
  bool no_provenance = false;
  std::string tmp_dir;
  std::string timing;  // empty: none
  io::Shard shard;     // of all inputs, one after the other

  // The lowest quality symbol that counts, 0 for all.
  char min_quality_symbol() const;
  // By the name of the output and --text.
  kmer::Format format() const;
  // What a counter keeps before the filters that need its result.
  CountBounds counted_bounds() const;
  // Throws Error{usage} where options contradict each other. Calls shared.resolve().
  void resolve();

 private:
  void check_quality() const;
  void check_shard() const;
  void check_names() const;
  void check_format() const;
};

void add_count_flags(CLI::App& command, CountFlags& flags);

// TMPDIR, else /tmp.
std::string default_tmp_dir();

}  // namespace biogpu::app
