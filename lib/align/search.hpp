#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/align/align.hpp"

namespace biogpu::align {

// Which targets of a set a query keeps: the best by score, the lower index first among equals.
struct SearchOptions {
  std::uint32_t top = 0;       // hits kept per query at most; 0: no bound
  std::int32_t min_score = 1;  // hits below it are dropped
};

struct Hit {
  std::uint32_t target = 0;  // index into the target set
  std::int32_t score = 0;

  // The order of hits: higher score first, then lower index. Total, so that the best K of a set do
  // not depend on how it was cut.
  friend bool operator<(const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : a.target < b.target;
  }
  friend bool operator==(const Hit&, const Hit&) = default;
};

// The hits of query i are rows[begin[i] .. begin[i + 1]), best first.
struct Hits {
  std::vector<Hit> rows;
  std::vector<std::uint64_t> begin{0};

  std::size_t n_queries() const { return begin.size() - 1; }
  std::span<const Hit> of(std::size_t query) const {
    return std::span(rows).subspan(begin[query], begin[query + 1] - begin[query]);
  }
};

// The best hits of one query, offered in any order. With a bound, memory is twice the bound.
class HitPicker {
 public:
  explicit HitPicker(const SearchOptions& search) : search_(search) {}
  void offer(Hit hit) {
    if (hit.score < search_.min_score) return;
    hits_.push_back(hit);
    if (search_.top > 0 && hits_.size() >= 2 * std::size_t{search_.top}) shrink();
  }
  // Appends the hits of this query to all and forgets them.
  void finish(Hits& all);

 private:
  void shrink();
  SearchOptions search_;
  std::vector<Hit> hits_;
};

// Scores every query against every target without keeping the scores of pairs that are no hits.
// Mode, free ends, scoring, band and xdrop of options apply; its output is ignored. Every version
// returns the same hits. Scores are those of align_ref: never saturated.

// The plain version.
Hits search_ref(const SequenceSet& queries, const SequenceSet& targets, const Options& options,
                const SearchOptions& search);

// SIMD, one query against many targets, on n_threads threads.
Hits search_cpu(const SequenceSet& queries, const SequenceSet& targets, const Options& options,
                const SearchOptions& search, int n_threads);

// Searches one target set on one GPU. The set is copied to the device once where it fits and in
// parts per call where it does not. The caller keeps the residues alive as long as the searcher.
// One thread at a time.
class GpuSearcher {
 public:
  virtual ~GpuSearcher() = default;
  virtual Hits search(const SequenceSet& queries) = 0;
  virtual double device_seconds() const = 0;            // kernels alone, summed
  virtual std::uint64_t peak_device_bytes() const = 0;  // allocated at most
};

// max_device_bytes and errors as make_gpu_aligner().
std::unique_ptr<GpuSearcher> make_gpu_searcher(int device, const SequenceSet& targets,
                                               const Options& options, const SearchOptions& search,
                                               std::uint64_t max_device_bytes);

}  // namespace biogpu::align
