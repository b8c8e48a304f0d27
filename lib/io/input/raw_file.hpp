#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/io/input/byte_source.hpp"

struct hFILE;

namespace biogpu::io::input {

// A path as messages show it.
std::string label_of(const std::string& path);

// The bytes of a file or of standard input ("-") as they lie there. The beginning can be looked at
// without consuming it, pipe or not, and the rest handed to htslib.
// Errors: Error{failed} with the path and the reason, also where a regular file became shorter
// before its end was reached.
class RawFile : public ByteSource {
 public:
  static constexpr std::size_t kMaxPeek = 4096;

  explicit RawFile(const std::string& path);
  ~RawFile() override;
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  // The first n bytes, or all where the file is shorter. Before the first read(); n <= kMaxPeek.
  std::string peek(std::size_t n);
  std::size_t read(char* to, std::size_t n) override;

  const std::string& label() const { return label_; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t file_bytes() const { return file_bytes_; }  // 0 when not a regular file
  int descriptor() const { return descriptor_; }
  // Where in a regular file reading begins: not at 0 where standard input is handed on half read.
  std::uint64_t begin() const { return begin_; }

  // Of a regular file, by any thread: fills [to, to + n) with what lies at the offset and returns
  // its size, less than n at the end of the file. Does not move where read() is.
  std::size_t read_at(std::uint64_t offset, char* to, std::size_t n) const;
  // Counts what lies before the offset as read, for who uses read_at().
  void set_position(std::uint64_t offset) { bytes_read_ = offset - begin_; }
  // Makes read() go on there.
  void seek(std::uint64_t offset);

  // For who reads by the descriptor, or was given the file: throws where the file's bytes end at
  // `end`, before they did when it was opened, and it was made shorter.
  void check_end(std::uint64_t end) const;

  // Gives the open file away. Neither peek() nor read() may follow.
  hFILE* release();

 private:
  void check_not_empty(bool is_empty) const;
  [[noreturn]] void fail(const char* what) const;

  std::string label_;
  hFILE* file_ = nullptr;
  int descriptor_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t begin_ = 0;                   // where in the file reading begins
  std::atomic<std::uint64_t> bytes_read_{0};  // read for progress while a worker reads the file
};

}  // namespace biogpu::io::input
