#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/io/input/raw_file.hpp"
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

// A file of sketches or of sequences. A pipe is opened once, for what it gave is gone then.
class SketchInput {
 public:
  explicit SketchInput(const std::string& path);
  ~SketchInput();
  SketchInput(SketchInput&&) noexcept;

  bool has_sketches() const { return has_sketches_; }
  // The sketches of a sketch file. The first such file sets the options and `fixed`; one with other
  // options then is Error{bad_input}.
  std::vector<kmer::Sketch> read(SketchFlags& flags, bool& fixed);
  // The sketch of all sequences of a sequence file. Error{bad_input} where no record has k letters.
  kmer::Sketch sketch(const SketchFlags& flags);

 private:
  std::unique_ptr<io::input::RawFile> take_file();

  std::string path_;
  std::unique_ptr<io::input::RawFile> file_;  // of what can be read only once
  bool has_sketches_ = false;
};

// Two sketches without hashes have distance 0 even where their sequences differ: warn.
void warn_of_empty_sketches(const char* command, const std::vector<kmer::Sketch>& sketches, int k);

}  // namespace biogpu::app
