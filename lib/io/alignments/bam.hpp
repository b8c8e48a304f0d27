#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/io/alignments/packed_read.hpp"
#include "lib/io/records/record_source.hpp"
#include "lib/io/records/text_window.hpp"

namespace biogpu::io::input {

// True when a file's text begins so.
bool is_bam(std::string_view head);

// The reads of a BAM file, from its text: primary alignments, those to the reverse strand
// complemented back. htslib is not used because its threads never end when one of them runs out of
// memory. Format: SAM/BAM specification, section 4.2.
class BamSource : public RecordSource {
 public:
  BamSource(TextWindow& text, std::string label);

  bool next(SequenceBatch& batch) override;

 private:
  bool has(std::size_t n_bytes);
  std::uint32_t take_number();
  void skip(std::uint64_t n_bytes);
  PackedRead parse(const char* record, std::size_t n_bytes) const;
  [[noreturn]] void refuse_header() const;

  TextWindow& text_;
  std::string label_;
  PackedReadAppender appender_;
  std::uint64_t record_ = 0;  // read from the file, skipped ones included
};

}  // namespace biogpu::io::input
