#include "lib/io/records/fasta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

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
  const char* newline = nullptr;
  for (std::size_t scanned = 0;;) {
    newline = static_cast<const char*>(
        std::memchr(text_.begin() + scanned, '\n', text_.size() - scanned));
    if (newline != nullptr) break;
    scanned = text_.size();
    if (!text_.refill()) break;
  }
  const bool has_newline = newline != nullptr;
  const char* end = has_newline ? newline : text_.end();
  const char* next_line = has_newline ? newline + 1 : end;
  const char* name = text_.begin() + 1;
  if (end > name && end[-1] == '\r') --end;
  const auto line_len = static_cast<std::size_t>(end - name);
  if (line_len > std::numeric_limits<std::uint32_t>::max()) {
    refuse("the header line is longer than 4 GiB");
  }
  const std::size_t name_len = count_nonblank(name, line_len);
  if (name_len == 0) refuse("the name is empty; expected a name right after '>'");
  const char* comment = name + name_len;
  while (comment < end && (*comment == ' ' || *comment == '\t')) ++comment;
  const auto comment_len = static_cast<std::size_t>(end - comment);
  if (comment_len > 0 && std::memchr(comment, '\r', comment_len) != nullptr) {
    refuse("a carriage return inside the header line; expected lines that end with LF or CRLF");
  }
  batch.append({name, name_len}, {comment, comment_len}, {}, {}, false);
  text_.skip_to(next_line);
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
