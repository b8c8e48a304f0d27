#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

#include "lib/io/char_buffer.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::qc {

// A file written by its own thread, with a bounded queue of texts: the kernel copies what is
// written to one file on one core, and neither the caller nor another file has to wait for that
// copy.
class AsyncWriter {
 public:
  explicit AsyncWriter(io::output::AtomicFile& file);
  ~AsyncWriter();  // without finish(), what is not yet written is dropped
  AsyncWriter(const AsyncWriter&) = delete;
  AsyncWriter& operator=(const AsyncWriter&) = delete;

  // Takes the text and leaves an empty buffer for it. Throws what writing an earlier one threw.
  void write(io::CharBuffer& text);
  // Returns when all is written; throws what writing threw.
  void finish();

  // Seconds of its thread so far: writing, and waiting for text.
  double busy_seconds() const;
  double wait_seconds() const;

 private:
  static constexpr std::size_t kBehind = 4;

  void work();

  io::output::AtomicFile& file_;
  mutable std::mutex mutex_;
  std::condition_variable given_;    // or stopping: for the thread
  std::condition_variable written_;  // or failed: for the caller
  std::array<io::CharBuffer, kBehind> texts_;
  std::uint64_t n_given_ = 0;
  std::uint64_t n_written_ = 0;
  bool stopping_ = false;
  double busy_s_ = 0;
  double wait_s_ = 0;
  std::exception_ptr error_;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace biogpu::qc
