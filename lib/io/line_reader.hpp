#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/io/text_reader.hpp"

namespace biogpu::io {

// The lines of a table, plain or compressed, without their ends (LF or CRLF). Memory is bounded: a
// line has at most max_line_bytes, and compressed text expands to at most kMaxExpansion times its
// size.
//
// Errors: those of TextReader; Error{bad_input} with file and line past the two bounds.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = 1u << 20;
  static constexpr std::uint64_t kMaxExpansion = 200;

  // expected: what the file should hold, for errors: "a table of variants".
  LineReader(const std::string& path, std::string expected,
             std::size_t max_line_bytes = kMaxLineBytes);

  // False at the end of the file.
  bool next(std::string& line);
  // Of the last line, from 1.
  std::uint64_t number() const { return number_; }
  // The path as messages show it.
  const std::string& label() const { return label_; }

 private:
  std::string_view next_piece();

  std::string label_;
  std::string expected_;
  std::size_t max_line_bytes_;
  TextReader text_;
  std::string_view piece_;     // what is left of it
  std::uint64_t number_ = 0;   // of the line
  std::uint64_t n_bytes_ = 0;  // of text
};

}  // namespace biogpu::io
