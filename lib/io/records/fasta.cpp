#include "lib/io/records/fasta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "lib/io/records/header_line.hpp"
#include "lib/io/records/scan.hpp"

namespace biogpu::io::input {

// read_sequence() stops only at a '>' or at the end, or inside a record that goes on; the reader
// looked at the first byte.
bool FastaSource::next(SequenceBatch& batch) {
  if (in_record_) {
    batch.append(name_, {}, tail_, {}, false);
  } else {
    if (!text_.has_text()) return false;
    ++record_;
    read_header(batch);
    at_line_begin_ = true;
  }
  read_sequence(batch);
  return true;
}

void FastaSource::read_header(SequenceBatch& batch) {
  HeaderLine header = parse_header_line(text_.begin() + 1, text_.end());
  for (bool has_more = true; has_more && header.line_end == text_.end() && !header.is_too_long();) {
    has_more = text_.refill();  // moves the text
    header = parse_header_line(text_.begin() + 1, text_.end());
  }
  if (header.is_too_long()) refuse(kHeaderTooLong);
  if (header.name_len == 0) refuse("the name is empty; expected a name right after '>'");
  if (header.has_return) refuse(kReturnInHeader);
  batch.append({header.name, header.name_len}, {header.comment, header.comment_len}, {}, {}, false);
  const bool has_newline = header.line_end != text_.end();
  text_.skip_to(header.line_end + (has_newline ? 1 : 0));
  line_ += has_newline ? 1 : 0;
}

void FastaSource::read_sequence(SequenceBatch& batch) {
  in_record_ = false;
  const std::size_t last = batch.size() - 1;
  while (text_.has_text()) {
    const char* const at = text_.begin();
    if (at_line_begin_ && *at == '>') return;
    if (at_line_begin_ && *at == kCommentMark) {
      skip_line();
      continue;
    }
    const std::uint64_t room = max_piece_ - batch.sequence(last).size();
    const std::size_t run =
        count_residues(at, static_cast<std::size_t>(std::min<std::uint64_t>(text_.size(), room)));
    batch.extend_sequence(at, run);
    text_.skip_to(at + run);
    if (run > 0) at_line_begin_ = false;
    if (run > 0 && run == room) return end_piece(batch);
    if (text_.size() > 0) take_other_byte(batch);
  }
}

void FastaSource::end_piece(const SequenceBatch& batch) {
  const std::string_view sequence = batch.sequence(batch.size() - 1);
  name_ = batch.name(batch.size() - 1);
  tail_ = sequence.substr(sequence.size() - overlap_);
  in_record_ = true;
}

// A byte that is no residue: the line's end, a blank, which carries no meaning, or with words a
// bracket, which counts as a residue.
void FastaSource::take_other_byte(SequenceBatch& batch) {
  const char byte = *text_.begin();
  if (byte == '\r') return end_line();
  text_.skip_to(text_.begin() + 1);
  at_line_begin_ = byte == '\n';
  line_ += at_line_begin_ ? 1 : 0;
  if (byte == '\n' || byte == ' ' || byte == '\t') return;
  if (!words_ || std::string_view("<>[]").find(byte) == std::string_view::npos)
    refuse(fmt::format("{} in the sequence; expected {}", show_byte(byte), kExpectedResidues));
  batch.extend_sequence(&byte, 1);
}

// At a carriage return: only blanks may follow on its line.
void FastaSource::end_line() {
  while (text_.has_text() && *text_.begin() != '\n') {
    if (std::string_view(" \t\r").find(*text_.begin()) == std::string_view::npos)
      refuse(fmt::format("{} in the sequence; expected {}", show_byte('\r'), kExpectedResidues));
    text_.skip_to(text_.begin() + 1);
  }
  at_line_begin_ = false;  // the line feed is left
}

void FastaSource::skip_line() {
  while (text_.has_text()) {
    const void* const newline = std::memchr(text_.begin(), '\n', text_.size());
    if (newline != nullptr) {
      text_.skip_to(static_cast<const char*>(newline) + 1);
      ++line_;
      return;
    }
    text_.skip_to(text_.end());
  }
}

}  // namespace biogpu::io::input
