#pragma once

#include <string>

#include "lib/io/alignments/alignment.hpp"
#include "lib/io/alignments/sam_text.hpp"
#include "lib/io/char_buffer.hpp"
#include "lib/io/output/atomic_file.hpp"
#include "lib/io/output/bgzf_deflate.hpp"

namespace biogpu::io::output {

// BAM: htslib makes the records, BgzfDeflate compresses them. htslib's own writer is not used
// because its threads never end when one of them runs out of memory. Format: SAM/BAM specification,
// section 4.2. Errors as SamWriter's.
class BamOutput {
 public:
  BamOutput(AtomicFile& file, const std::string& header, Targets targets, const SeqLetters& letters,
            int n_threads);

  void write(const SamRecord& record);
  // Writes what is left; AtomicFile::commit() comes next.
  void finish() { bgzf_.finish(); }

 private:
  AtomicFile& file_;
  BgzfDeflate bgzf_;
  AlignmentMaker maker_;
  CharBuffer bytes_;
};

}  // namespace biogpu::io::output
