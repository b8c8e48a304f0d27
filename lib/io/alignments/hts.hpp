#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/io/input/raw_file.hpp"
#include "lib/io/records/record_source.hpp"

namespace biogpu::io::input {

// True when a file whose text starts so is SAM or CRAM.
bool is_hts(std::string_view head);

// Reads of a SAM or CRAM file as the sequencer gave them: alignments to the reverse strand are
// complemented back, secondary and supplementary ones skipped. Residues come in upper
// case, and any letter but a nucleotide's comes as N: the formats
// hold no proteins. CRAM takes its reference from REF_PATH or REF_CACHE; a server is asked only
// where REF_PATH or the file names one. Errors: Error{bad_input} for what cannot be decoded or was
// cut short, Error{failed} for what cannot be read.
class HtsSource : public RecordSource {
 public:
  // Takes the open file over from raw, which outlives this.
  HtsSource(RawFile& raw, int n_threads);
  ~HtsSource() override;

  bool next(SequenceBatch& batch) override;
  std::uint64_t bytes_read() const;  // of the file

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::io::input
