#pragma once

#include <memory>
#include <string>

#include "lib/io/alignments/sam_text.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::io::output {

// CRAM through htslib, without a reference. Errors as SamWriter's.
class CramOutput {
 public:
  CramOutput(AtomicFile& file, const std::string& header, Targets targets,
             const SeqLetters& letters, int n_threads);
  ~CramOutput();

  void write(const SamRecord& record);
  // Writes what is left and closes the file's descriptor; AtomicFile::commit() comes next.
  void finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::io::output
