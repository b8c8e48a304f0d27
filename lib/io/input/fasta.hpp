#pragma once

#include <cstdint>
#include <string>

#include "lib/io/input/record_source.hpp"
#include "lib/io/input/text_window.hpp"

namespace biogpu::io::input {

// FASTA: a line '>name comment', then any number of sequence lines, wrapped or not. Blank lines and
// blanks at the ends of lines carry no meaning. A record may have no residues, but must have a
// name. With words, a sequence may also hold words such as <mask> and [MASK], and blanks.
class FastaSource : public RecordSource {
 public:
  // line: the number of the line that text begins with.
  FastaSource(TextWindow& text, std::string label, std::uint64_t line, bool words = false)
      : text_(text), label_(std::move(label)), line_(line), words_(words) {}

  bool next(SequenceBatch& batch) override;

 private:
  void read_header(SequenceBatch& batch);
  void read_sequence(SequenceBatch& batch);
  void finish_line(SequenceBatch& batch);
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_record(label_, record_, line_, what);
  }

  TextWindow& text_;
  std::string label_;
  std::uint64_t line_;
  bool words_;
  std::uint64_t record_ = 0;
};

}  // namespace biogpu::io::input
