#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/kmer/count/count_filter.hpp"
#include "lib/kmer/count/counter.hpp"
#include "lib/kmer/database/writer.hpp"
#include "lib/pipeline/in_turn.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {

// Moves the buckets of a counter, filtered, into a database. Lives as long as the counter: its
// buckets hold memory of devices.
class CountOutput {
 public:
  CountOutput(kmer::Counter& counter, CountFilter& filter, int n_threads)
      : counter_(counter), filter_(filter), n_threads_(n_threads) {}

  // Returns the times of the stages: fetching, sorting and formatting, writing.
  pipeline::Times write(kmer::DatabaseWriter& out);

  std::uint64_t n_written() const { return n_written_; }  // k-mers
  bool workers_write() const { return workers_write_; }   // not the writing stage

 private:
  struct BucketRecords {
    kmer::Counter::Bucket bucket;
    kmer::Counter::Bucket scratch;  // of the filter
    std::string bytes;
    std::uint64_t offset = 0;  // of bytes in the file
    bool is_written = false;
  };

  void format(BucketRecords& records, kmer::DatabaseWriter& out);

  kmer::Counter& counter_;
  CountFilter& filter_;
  const int n_threads_;
  std::vector<BucketRecords> slots_;
  pipeline::InTurn in_turn_;
  std::uint64_t n_written_ = 0;
  bool workers_write_ = false;
};

}  // namespace biogpu::app
