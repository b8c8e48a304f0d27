#pragma once

#include <cstddef>
#include <cstring>

#include "lib/io/records/scan.hpp"

namespace biogpu::io::input {

// A header line is held in memory whole, and a few bytes of gzip may hold any length of it.
inline constexpr std::size_t kMaxHeaderBytes = 16u << 20;

// The line that begins a record of FASTA or FASTQ, behind its '>' or '@': a name, which ends at the
// first blank, and a comment.
struct HeaderLine {
  const char* name = nullptr;
  std::size_t name_len = 0;
  const char* comment = nullptr;
  std::size_t comment_len = 0;
  std::size_t line_len = 0;        // from the name on, without the line's end
  const char* line_end = nullptr;  // its line feed, or the end of the text
  bool has_return = false;         // a carriage return in the comment

  bool is_too_long() const { return line_len > kMaxHeaderBytes; }
};

// The header whose name begins at `name`, in the text up to `end`.
inline HeaderLine parse_header_line(const char* name, const char* end) {
  HeaderLine line;
  line.name = name;
  line.name_len = count_nonblank(name, static_cast<std::size_t>(end - name));
  const char* const name_end = name + line.name_len;
  const void* const newline = std::memchr(name_end, '\n', static_cast<std::size_t>(end - name_end));
  line.line_end = newline == nullptr ? end : static_cast<const char*>(newline);
  const char* text_end = line.line_end;
  if (text_end > name && text_end[-1] == '\r') --text_end;
  line.line_len = static_cast<std::size_t>(text_end - name);
  line.comment = name_end;
  while (line.comment < text_end && (*line.comment == ' ' || *line.comment == '\t')) ++line.comment;
  if (line.comment < text_end) {
    line.comment_len = static_cast<std::size_t>(text_end - line.comment);
    line.has_return = std::memchr(line.comment, '\r', line.comment_len) != nullptr;
  }
  return line;
}

// What messages say of it.
inline constexpr const char* kHeaderTooLong = "the header line is longer than 16 MiB";
inline constexpr const char* kReturnInHeader =
    "a carriage return inside the header line; expected lines that end with LF or CRLF";

}  // namespace biogpu::io::input
