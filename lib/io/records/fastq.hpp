#pragma once

#include <cstdint>
#include <string>

#include "lib/io/records/fastq_record.hpp"
#include "lib/io/records/record_source.hpp"
#include "lib/io/records/text_window.hpp"

namespace biogpu::io::input {

// FASTQ in records of four lines: '@name comment', the sequence on one line, '+' with anything
// behind it, and as many Phred symbols ('!' to '~') as there are residues. Blank lines may separate
// records. Format: P. Cock et al., doi:10.1093/nar/gkp1137; its wrapped form is refused.
class FastqSource : public RecordSource {
 public:
  // line: the number of the line that text begins with; n_before: of the file's records before it.
  FastqSource(TextWindow& text, std::string label, std::uint64_t line, std::uint64_t n_before = 0)
      : text_(text), label_(std::move(label)), line_(line), record_(n_before) {}

  // Of a text in memory that begins there: records stay in it (SequenceBatch::add_in_place()).
  void keep_in_place(const char* text_begin) { in_place_ = text_begin; }

  bool next(SequenceBatch& batch) override;
  std::uint64_t line() const override { return line_; }

 private:
  bool skip_blank_lines();
  bool parse(SequenceBatch& batch, bool at_end);
  [[noreturn]] void refuse(const char* begin, bool at_end) const;

  TextWindow& text_;
  std::string label_;
  const char* in_place_ = nullptr;  // offsets count from here
  std::uint64_t line_;
  std::uint64_t record_;
};

}  // namespace biogpu::io::input
