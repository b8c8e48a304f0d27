#pragma once

#include <optional>

#include "apps/biogpu/kmer/count/count_flags.hpp"
#include "apps/biogpu/kmer/count/input.hpp"
#include "lib/kmer/count/cpu_counter.hpp"
#include "lib/kmer/database/jellyfish/bloom_counter.hpp"

namespace biogpu::app {

// The filters of `kmer count` that need counts: --if, --bf-size, --bc, and -L and -U of --if.
class CountFilter {
 public:
  // counter: the options of the counter whose buckets are filtered. Throws Error{bad_input} for a
  // Bloom counter of other k-mers.
  CountFilter(const CountFlags& flags, const kmer::CountOptions& counter);

  // Reads the files of --if.
  void read(KmerInput& input);
  // Called once, after read() and before the first apply().
  void finish();

  // Filters a bucket of the counter. scratch: working memory of the calling thread. Any thread.
  void apply(kmer::Counter::Bucket& bucket, kmer::Counter::Bucket& scratch);

 private:
  void read_bloom_counter();
  void apply_bloom_counter(kmer::CountBlock& counts) const;

  const CountFlags& flags_;
  const kmer::KeyOrder order_;
  std::optional<kmer::CpuCounter> listed_;  // the k-mers of --if
  std::optional<kmer::BloomCounter> bloom_;
};

}  // namespace biogpu::app
