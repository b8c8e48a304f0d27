#include "lib/io/records/fasta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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
  for (bool has_more = true; has_more && header.line_end == text_.end();) {
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
    const char* at = text_.begin();
    if (at_line_begin_ && *at == '>') return;
    const std::uint64_t room = max_piece_ - batch.sequence(last).size();
    const std::size_t run =
        count_residues(at, static_cast<std::size_t>(std::min<std::uint64_t>(text_.size(), room)));
    if (run > 0 && run == room) {
      batch.extend_sequence(at, run);
      text_.skip_to(at + run);
      at_line_begin_ = false;
      return end_piece(batch);
    }
    batch.extend_sequence(at, run);
    at += run;
    text_.skip_to(at);
    at_line_begin_ = at != text_.end();  // else the line may go on in the next stretch of text
    if (!at_line_begin_) continue;
    if (*at == '\n') {
      text_.skip_to(at + 1);
      ++line_;
    } else {
      finish_line(batch);
    }
  }
}

void FastaSource::end_piece(const SequenceBatch& batch) {
  const std::string_view sequence = batch.sequence(batch.size() - 1);
  name_ = batch.name(batch.size() - 1);
  tail_ = sequence.substr(sequence.size() - overlap_);
  in_record_ = true;
}

// At the first byte of a line that is neither residue nor line feed: only blanks may follow, or
// with words a bracket, which counts as a residue.
void FastaSource::finish_line(SequenceBatch& batch) {
  const char first = *text_.begin();
  if (words_ && std::strchr("<>[]", first) != nullptr && first != '\0') {
    batch.extend_sequence(&first, 1);
    text_.skip_to(text_.begin() + 1);
    return;
  }
  while (text_.has_text()) {
    const char byte = *text_.begin();
    if (byte == '\n') {
      text_.skip_to(text_.begin() + 1);
      ++line_;
      return;
    }
    if (byte != ' ' && byte != '\t' && byte != '\r') {
      if (words_ && (first == ' ' || first == '\t')) return;
      refuse(
          fmt::format("{} in the sequence; expected letters, '*', '-' or '.'", show_byte(first)));
    }
    text_.skip_to(text_.begin() + 1);
  }
}

}  // namespace biogpu::io::input
