#pragma once

#include <htslib/sam.h>

#include <string>

#include "lib/io/alignments/sam_text.hpp"
#include "lib/io/hts_handles.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::io::output {

// Turns records into htslib's form, one at a time.
class AlignmentMaker {
 public:
  explicit AlignmentMaker(const SeqLetters& letters);

  // The record, until the next call. Throws Error{failed}, named for the file, where its fields
  // contradict each other.
  const bam1_t& make(const AtomicFile& file, const SamRecord& record);

 private:
  BamRecord alignment_;
  const SeqLetters letters_;
  std::string sequence_;
  std::string phred_;
};

// Throws Error{bad_input} where BAM and CRAM cannot hold the length of a target.
void check_target_lengths(const std::string& label, Targets targets);

}  // namespace biogpu::io::output
