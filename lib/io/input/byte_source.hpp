#pragma once

#include <cstddef>

namespace biogpu::io::input {

// A stream of decompressed bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills [to, to + n) unless the stream ends first; returns the bytes written.
  // Throws Error{failed} when the stream cannot be read, Error{bad_input} when what was compressed
  // is damaged or cut short.
  virtual std::size_t read(char* to, std::size_t n) = 0;
};

}  // namespace biogpu::io::input
