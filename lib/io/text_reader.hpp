#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace biogpu::io {

// The text of a file or of standard input ("-"), plain, gzip or BGZF by content, piece by piece and
// without a byte order mark.
// Errors: Error{failed} with path and reason; Error{bad_input} where compressed data are damaged.
class TextReader {
 public:
  explicit TextReader(const std::string& path);
  ~TextReader();

  // The next piece, valid until the next call; empty at the end.
  std::string_view next();
  // Of the file so far, compressed where it is.
  std::uint64_t bytes_read() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::io
