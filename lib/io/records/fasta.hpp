#pragma once

#include <cstdint>
#include <string>

#include "lib/io/records/record_source.hpp"
#include "lib/io/records/text_window.hpp"

namespace biogpu::io::input {

// FASTA, as docs/design/sequence-input.md defines it for every command: a line '>name comment',
// then any number of sequence lines, wrapped or not. Residues are letters, '*', '-' and '.'; blanks
// and tabs anywhere in a sequence, and blank lines, carry no meaning; a line that begins with ';'
// is a comment. A record may have no residues, but must have a name. With words, a sequence may
// also hold words such as <mask> and [MASK].
class FastaSource : public RecordSource {
 public:
  // line: the number of the line that text begins with; n_before: of the file's records before it.
  FastaSource(TextWindow& text, std::string label, std::uint64_t line, bool words = false,
              std::uint64_t n_before = 0)
      : text_(text), label_(std::move(label)), line_(line), words_(words), record_(n_before) {}

  // Records longer than n residues, n > overlap, come in pieces of so many, each under the record's
  // name and with the last `overlap` residues of the one before it.
  void split_records(std::uint64_t n, std::size_t overlap) {
    max_piece_ = n;
    overlap_ = overlap;
  }

  bool next(SequenceBatch& batch) override;
  bool in_record() const override { return in_record_; }
  std::uint64_t line() const override { return line_; }

 private:
  void read_header(SequenceBatch& batch);
  void read_sequence(SequenceBatch& batch);
  void end_piece(const SequenceBatch& batch);
  void take_other_byte(SequenceBatch& batch);
  void end_line();
  void skip_line();
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_record(label_, record_, line_, what);
  }

  TextWindow& text_;
  std::string label_;
  std::uint64_t line_;
  bool words_;
  std::uint64_t record_;
  std::uint64_t max_piece_ = UINT64_MAX;
  std::size_t overlap_ = 0;
  bool in_record_ = false;
  bool at_line_begin_ = true;
  std::string name_;  // of the record that goes on, and the end of its last piece
  std::string tail_;
};

}  // namespace biogpu::io::input
