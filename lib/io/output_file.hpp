#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace biogpu::io {

// An output that appears under its final name only when it is whole: written to a file without a
// name, or with a hidden one, in the same folder, and named by commit(). Destruction without it
// removes the file. "-" is standard output. A name in .gz or .bgz is written as BGZF. Device files
// and pipes (/dev/null, a FIFO) are written in place.
//
// Errors: Error{failed} with path and reason on any failed open, write, flush, close or rename;
// ClosedPipe when the reader of standard output or of a FIFO is gone, provided that the program
// ignores SIGPIPE.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, int n_threads = 1);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  void write(std::string_view bytes);
  // Whether write_at() may be used: a regular file without compression.
  bool takes_offsets() const;
  // Room for the next n bytes of the file; returns where it begins. As write(), by one thread at a
  // time; later bytes of write() come behind it.
  std::uint64_t reserve(std::uint64_t n);
  // Fills room that was reserved, all of it in one or more calls. Any thread, many at a time: who
  // made the bytes has them in its cache, and writes them faster than another.
  void write_at(std::uint64_t offset, std::string_view bytes);
  // Hands on what is buffered: of a plain file, commit() then has only to close and name it.
  void flush();
  // Does all of commit() but the naming, which hardly fails: for outputs that go together, so that
  // none has its name when another cannot be written. A CommitGuard then holds signals back.
  void finish();
  void commit();

  const std::string& path() const;
  std::uint64_t bytes() const;  // given to write() or reserved so far

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Removes the hidden files of every OutputFile and SamWriter still open. Async-signal-safe: called
// from the handler of signals that end the program.
void remove_unfinished_outputs() noexcept;

}  // namespace biogpu::io
