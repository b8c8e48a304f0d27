#include "lib/io/records/fastq.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "lib/io/records/scan.hpp"

namespace biogpu::io::input {
namespace {

std::size_t distance(const char* begin, const char* end) {
  return static_cast<std::size_t>(end - begin);
}

// Where a header or '+' line ends: at its line feed or at the end of the text.
const char* find_line_end(const char* begin, const char* end) {
  const void* newline = std::memchr(begin, '\n', distance(begin, end));
  return newline == nullptr ? end : static_cast<const char*>(newline);
}

}  // namespace

bool FastqSource::next(SequenceBatch& batch) {
  if (!skip_blank_lines()) return false;
  ++record_;
  bool at_end = false;
  while (!parse(batch, at_end)) at_end = !text_.refill();
  return true;
}

// False at the end of the text.
bool FastqSource::skip_blank_lines() {
  while (text_.has_text()) {
    const char byte = *text_.begin();
    if (byte != '\n' && byte != '\r' && byte != ' ' && byte != '\t') return true;
    line_ += byte == '\n' ? 1 : 0;
    text_.skip_to(text_.begin() + 1);
  }
  return false;
}

// Parses a whole record, or nothing when the window ends inside it. With at_end no text follows the
// window, so that its end ends a line too.
bool FastqSource::parse(SequenceBatch& batch, bool at_end) {
  const char* const begin = text_.begin();
  const char* const end = text_.end();
  if (*begin != '@') {
    refuse(line_, fmt::format("{} begins the record; expected '@'", show_byte(*begin)));
  }
  SequenceBatch::Record record;
  const char* const name = begin + 1;
  const std::size_t name_len = count_nonblank(name, distance(name, end));
  const char* header_end = find_line_end(name + name_len, end);
  const char* const sequence = line_after(header_end, at_end, line_);
  if (sequence == nullptr) return false;
  if (header_end > name && header_end[-1] == '\r') --header_end;
  const char* comment = name + name_len;
  while (comment < header_end && (*comment == ' ' || *comment == '\t')) ++comment;
  if (name_len == 0) refuse(line_, "the name is empty; expected a name right after '@'");
  if (distance(name, header_end) > std::numeric_limits<std::uint32_t>::max()) {
    refuse(line_, "the header line is longer than 4 GiB");
  }
  if (comment < header_end &&
      std::memchr(comment, '\r', distance(comment, header_end)) != nullptr) {
    refuse(line_,
           "a carriage return inside the header line; expected lines that end with LF or CRLF");
  }

  const std::size_t n_residues = count_residues(sequence, distance(sequence, end));
  const char* const plus = line_after(sequence + n_residues, at_end, line_ + 1);
  if (plus == nullptr) return false;
  if (plus == end) {
    if (!at_end) return false;
    refuse(line_ + 1, "the file ends inside the record; it may be cut short");
  }
  if (*plus != '+') {
    refuse(line_ + 2, fmt::format("{} begins the third line; expected '+' (records of four lines)",
                                  show_byte(*plus)));
  }
  const char* const quality = line_after(find_line_end(plus, end), at_end, line_ + 2);
  if (quality == nullptr) return false;
  const std::size_t n_symbols = count_qualities(quality, distance(quality, end));
  const char* const next = line_after(quality + n_symbols, at_end, line_ + 3);
  if (next == nullptr) return false;
  if (n_symbols != n_residues) {
    refuse(line_ + 3,
           fmt::format("quality has {} symbols, sequence has {}; the file may be cut short",
                       n_symbols, n_residues));
  }
  const char* const base = in_place_ != nullptr ? in_place_ : begin;
  record.name = distance(base, name);
  record.name_len = static_cast<std::uint32_t>(name_len);
  record.comment = distance(base, comment);
  record.comment_len = static_cast<std::uint32_t>(distance(comment, header_end));
  record.sequence = distance(base, sequence);
  record.sequence_len = n_residues;
  record.quality = distance(base, quality);
  record.has_quality = true;
  if (in_place_ != nullptr)
    batch.add_in_place(record);
  else
    batch.append_whole({begin, distance(begin, quality + n_symbols)}, record);
  text_.skip_to(next);
  line_ += 4;
  return true;
}

const char* FastqSource::line_after(const char* at, bool at_end, std::uint64_t line) const {
  const char* const end = text_.end();
  if (at == end) return at_end ? end : nullptr;
  if (*at == '\n') return at + 1;
  if (*at == '\r') {
    if (at + 1 == end) return at_end ? end : nullptr;
    if (at[1] == '\n') return at + 2;
  }
  const bool in_quality = line == line_ + 3;
  refuse(line, fmt::format("{} in the {}; expected {}", show_byte(*at),
                           in_quality ? "quality" : "sequence",
                           in_quality ? "symbols from '!' to '~'" : "letters, '*', '-' or '.'"));
}

}  // namespace biogpu::io::input
