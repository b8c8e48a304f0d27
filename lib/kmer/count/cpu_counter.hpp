#pragma once

#include <cstddef>
#include <memory>

#include "lib/kmer/count/counter.hpp"

namespace biogpu::kmer {

// Counts on the CPU in three steps: add() files super-k-mers into bins by their minimizer, finish()
// counts one bin after another and files the distinct k-mers into buckets by their sort key,
// fetch() sorts a bucket. docs/design/kmer.md has the figures.
class CpuCounter : public Counter {
 public:
  explicit CpuCounter(const CountOptions& options);
  ~CpuCounter() override;

  void add(const FeedSequences& feed) override;
  void finish() override;
  bool next(Bucket& bucket) override;
  // Buckets of one index hold the same range of sort keys in every CpuCounter of one order.
  void fetch(Bucket& bucket) override;

  CountTotals totals() const override;
  std::uint64_t spilled_bytes() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::kmer
