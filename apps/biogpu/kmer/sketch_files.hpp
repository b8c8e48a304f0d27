#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/kmer/minhash_sketch.hpp"

namespace biogpu::app {

// What `kmer sketch` and `kmer dist` share.
struct SketchFlags {
  std::vector<std::string> paths;
  std::string out_path = "-";
  kmer::SketchOptions options;
  int threads = 1;
  bool containment = false;
};

void add_sketch_flags(CLI::App& command, SketchFlags& flags);

bool is_sketch_file(const std::string& path);
// The sketch of all sequences of a file.
kmer::Sketch sketch_file(const std::string& path, const SketchFlags& flags);
// The sketches of a sketch file, or the one of a sequence file. The first sketch file sets the
// options and `fixed`; one with other options then is Error{bad_input}.
std::vector<kmer::Sketch> load_sketches(const std::string& path, SketchFlags& flags, bool& fixed);

// Two sketches without hashes have distance 0 even where their sequences differ: warn.
void warn_of_empty_sketches(const char* command, const std::vector<kmer::Sketch>& sketches, int k);

}  // namespace biogpu::app
