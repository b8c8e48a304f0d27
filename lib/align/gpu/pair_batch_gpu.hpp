#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/align/pairs/pair_batch.hpp"
#include "lib/align/align.hpp"

namespace biogpu::align {

// A pair as it waits for its place in a batch; kNoPair keeps the place beside a pair of the packed
// kernels that has no partner.
inline constexpr std::uint32_t kNoPair = ~0u;
struct PlannedPair {
  std::uint64_t key = 0;    // kernel, tiles, columns: neighbours share a wave
  std::uint32_t index = 0;  // in Work::pairs
  gpu::align::KernelChoice kernel;
};

// Whether a target holds the classes 0..3 alone: what the packed kernels want.
class FourLetters {
 public:
  // wanted: false answers "no" for all.
  FourLetters(const Work& work, bool wanted);
  bool operator()(std::uint32_t target) const { return !yes_.empty() && yes_[target] != 0; }

 private:
  std::vector<std::uint8_t> yes_;
};

// The part of a Work that one batch aligns: pairs [first, last) of the input but for those with an
// empty side. Everything is done on all threads of the calling task arena.
class BatchWork {
 public:
  BatchWork(const Work& work, const Options& options, const gpu::align::BatchSettings& settings)
      : work_(work), options_(options), settings_(settings) {}

  // Plans as many pairs from `first` on as fit max_bytes, and none from the first on that wants the
  // whole device. Nothing planned and last() == first: pair `first` is such a one.
  void plan(std::size_t first, std::uint64_t max_bytes, const FourLetters& four_letters);
  std::size_t first() const { return first_; }
  std::size_t last() const { return last_; }
  std::size_t size() const { return pairs_.size(); }
  std::size_t n_looked_at() const { return bytes_of_.size(); }  // by the last plan
  std::uint64_t bytes() const { return bytes_; }                // device memory, at most

  // Fills the batch and queues it.
  void submit(gpu::align::PairBatch& batch);

  // Waits for the batch, sets the rows and appends the paths in the order of the input.
  void collect(gpu::align::PairBatch& batch, Alignments& all);

 private:
  // Where one side of the pairs lies among the residues of the batch.
  struct Side {
    bool whole = false;  // sequences [first, last) as they lie in the set
    std::uint32_t first = 0, last = 0;
    std::uint64_t residues = 0;  // in the batch
  };
  const SequenceSet& set_of(bool queries) const { return queries ? work_.queries : work_.targets; }
  static std::uint32_t number_of(const Pair& pair, bool query) {
    return query ? pair.query : pair.target;
  }
  bool is_pair(std::size_t i) const { return pairs_[i].index != kNoPair; }
  const Pair& pair_of(std::size_t i) const { return work_.pairs[pairs_[i].index]; }

  // What planning a chunk of pairs found.
  struct Chunk {
    std::uint64_t bytes = 0;  // where all fit
    bool all_fit = true;      // each on its own
    bool none_empty = true;
    bool in_order = true;  // as sort() wants them
  };
  void plan_window(std::size_t begin, std::size_t end, std::uint64_t max_bytes,
                   const FourLetters& four_letters, Chunk& all);
  Chunk plan_chunk(std::size_t begin, std::size_t end, std::uint64_t max_bytes,
                   const FourLetters& four_letters);
  void plan_pair(PlannedPair& pair, std::uint64_t& bytes, std::uint64_t m, std::uint64_t n,
                 bool four_letters) const;
  std::size_t keep_what_fits(std::uint64_t max_bytes);
  void sort(bool in_order);
  void separate_tiles();
  Side plan_side(bool query) const;
  std::uint64_t bytes_of(std::size_t i, const Side& side, bool query) const;
  gpu::align::BatchExtents place(std::size_t i, bool shares_trace) const;
  void fill(gpu::align::PairBatch& batch);
  void copy_whole(std::uint8_t* to, const Side& side, bool query) const;

  const Work& work_;
  const Options& options_;
  const gpu::align::BatchSettings& settings_;
  std::size_t first_ = 0, last_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<PlannedPair> pairs_;
  std::vector<std::uint64_t> bytes_of_;  // of each planned pair; 0: empty
  std::vector<std::uint32_t> empty_;     // pairs with an empty side
  std::vector<gpu::align::BatchSegment> segments_;
};

// Device memory that the pair needs on its own, ~0 where it should have the device for itself.
std::uint64_t planned_bytes(std::uint64_t m, std::uint64_t n,
                            const gpu::align::KernelChoice& kernel,
                            const gpu::align::BatchSettings& settings);

}  // namespace biogpu::align
