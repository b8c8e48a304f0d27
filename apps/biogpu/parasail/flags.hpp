#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/align/options/modes.hpp"

namespace biogpu::app {

// What a function of Parasail computes, read off its name: mode, and scores alone, statistics or a
// path. The rest of the name (striped, scan, diag, profile, instruction set, width) says how; it is
// checked and has no effect.
struct ParasailFunction {
  ModeName mode{"sw", align::Mode::local, {}};
  bool statistics = false;
  bool trace = false;
  bool table = false;  // besides its row a pair leaves a file with all scores
  bool banded = false;
};
// Throws Error{usage} for a name that Parasail does not have.
ParasailFunction parse_parasail_function(const std::string& name);

enum class ParasailFormat { csv, emboss, sam, sam_with_header, ssw };

// The options of `parasail_aligner` 2.6, with its defaults.
struct ParasailFlags {
  ParasailFunction function;                    // -a
  std::string database_path;                    // -f
  std::string query_path;                       // -q; empty: the database with itself
  std::string out_path;                         // -g; parasail.csv, or standard output for paths
  ParasailFormat format = ParasailFormat::csv;  // -O
  bool filter = true;                           // -x turns it off
  int cutoff = 7;                               // -c
  int gap_open = 10;                            // -o
  int gap_extend = 1;                           // -e
  std::string matrix;                           // -m; empty: blosum62, or match and mismatch
  bool dna = false;                             // -d
  int match = 1;                                // -M
  int mismatch = 0;                             // -X, a penalty
  bool case_sensitive = false;                  // -C
  std::string aliases;                          // -A
  int band = 3;                                 // -k
  int threads = 0;                              // -t; 0: all
  std::uint64_t batch = 0;                      // -b
  int min_length = 80;                          // -l, -s, -i: of an edge, in percent
  int min_identity = 40;
  int min_score = 30;
  bool edges = false;       // -E
  bool graph = false;       // -G
  bool pairs_only = false;  // -p
  bool verbose = false;     // -v, -V
  bool help = false;        // -h
};

// arguments: without the program's name. Throws Error{usage}.
ParasailFlags parse_parasail_flags(const std::vector<std::string>& arguments);

}  // namespace biogpu::app
