#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "lib/io/char_buffer.hpp"
#include "lib/io/deflate_handles.hpp"
#include "lib/io/output/atomic_file.hpp"

struct libdeflate_compressor;

namespace biogpu::io::output {

// Writes a text to a file as BGZF. Groups of blocks are deflated on n_threads threads; the caller's
// thread writes them in order, so that every error reaches it. The bytes written depend on the text
// alone, neither on n_threads nor on how the text was cut into calls of write().
class BgzfDeflate {
 public:
  BgzfDeflate(AtomicFile& file, int n_threads);
  ~BgzfDeflate();
  BgzfDeflate(const BgzfDeflate&) = delete;
  BgzfDeflate& operator=(const BgzfDeflate&) = delete;

  void write(std::string_view text);
  // Writes what is left and BGZF's end marker.
  void finish();

 private:
  struct Job {
    // One a job and not one a thread: glibc ends a process that has no memory to note a
    // thread_local.
    Compressor compressor;
    CharBuffer text;
    CharBuffer packed;
    std::exception_ptr error;
    bool done = false;
  };

  static void pack(Job& job);
  void submit();
  void write_oldest();
  void work();
  Job& job(std::size_t turn) { return jobs_[turn % jobs_.size()]; }

  AtomicFile& file_;
  std::vector<Job> jobs_;      // turn t lives in job t % size
  std::size_t n_written_ = 0;  // jobs whose bytes are in the file

  std::mutex mutex_;  // guards what follows and every Job's done and error
  std::condition_variable submitted_;
  std::condition_variable done_;
  std::size_t n_submitted_ = 0;
  std::size_t n_started_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace biogpu::io::output
