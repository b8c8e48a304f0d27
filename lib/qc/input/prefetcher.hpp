#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/qc/input/fastq_file.hpp"

namespace biogpu::qc {

// Reads chunks of a file and cuts them into records in its own thread, a bounded number in advance.
class Prefetcher {
 public:
  // Text of a chunk. Reads of 250,000 bases come to that by the thousand.
  static constexpr std::size_t kMaxBytes = 512u << 20;

  // n_records: of a chunk; max_records: of all, 0 for no bound. A chunk that takes max_bytes of
  // text or more is Error{bad_input}: a small gzip file may hold any number of long lines.
  Prefetcher(FastqFile& file, std::size_t n_records, std::uint64_t max_records,
             std::size_t max_bytes = kMaxBytes);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Exchanges the chunk for the next one. False at the end; throws what reading threw.
  bool next(FastqChunk& chunk);

  // Seconds of its thread so far: reading, and waiting until a chunk is taken.
  double busy_seconds() const;
  double wait_seconds() const;
  double next_seconds() const;  // that next() waited

 private:
  void work();
  bool read(FastqChunk& chunk, std::uint64_t n);

  FastqFile& file_;
  const std::size_t n_records_;
  const std::uint64_t max_records_;
  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FastqChunk> slots_;  // chunk i in slot i % size
  std::uint64_t n_read_ = 0;
  std::uint64_t n_taken_ = 0;
  bool ended_ = false;
  bool stopping_ = false;
  double busy_s_ = 0;
  double wait_s_ = 0;
  double next_s_ = 0;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace biogpu::qc
