#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/qc/batch/batch.hpp"
#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/duplicates.hpp"
#include "lib/qc/stats/overrepresented.hpp"
#include "lib/qc/stats/partial_report.hpp"
#include "lib/qc/stats/summary.hpp"
#include "lib/qc/stats/text_counts.hpp"

namespace biogpu::qc {

// The duplicates of a run. Keys are computed by workers; sets are asked in the order of the input.
class Duplicates {
 public:
  explicit Duplicates(const Options& options);

  // Sets batch.keys. Any thread.
  void make_keys(Batch& batch) const;
  // Sets batch.is_duplicate by batch.keys. Batches come in order where it matters which copy stays.
  void look_up(Batch& batch);
  void report(Summary& summary) const;
  // With --part: the keys of all records so far.
  PackedKeys take_keys() { return std::move(keys_); }

 private:
  const Options& options_;
  DuplicateHash hash_;
  PackedKeys keys_;
  std::vector<KeySet> sets_;
  std::uint64_t n_evaluated_ = 0;
  std::uint64_t n_duplicates_ = 0;
};

// Counts adapters as fastp 1 does, each of whose workers counts a bounded number of texts: those
// that come first in its packs. Batches must come in order.
class BoundedAdapters {
 public:
  explicit BoundedAdapters(const Options& options);

  void count(const Batch& batch);
  void report(Summary& summary) const;
  // Adds all texts, for --part.
  void share(PartialReport& partial);

 private:
  const bool keeps_all_;
  std::array<std::vector<TextCounts>, 2> counts_;  // by mate, of each worker
};

// Counts over-represented sequences in one of `sampling` reads. Each of fastp's workers counts its
// own reads to sample, so that a read's turn depends on the worker of its pack; batches must come
// in order.
class Overrepresentation {
 public:
  explicit Overrepresentation(const Options& options);

  void count(Batch& batch);
  void report(Summary& summary) const;
  // With --part: every read, by its turn.
  void share(PartialReport& partial);

 private:
  // Without --part the reads whose turn it is are counted together, as if of worker 0 and turn 0.
  using Counts = TurnCounts;
  SequenceCounts total(const Counts& counts, std::size_t m) const;

  std::size_t n_turns() const {
    return static_cast<std::size_t>(options_.overrepresentation_sampling);
  }
  const std::vector<std::string>& candidates(std::size_t m) const;
  std::string_view original(Batch& batch, std::size_t i, std::size_t m) const;
  void add(Counts& counts, std::size_t m, std::uint64_t pack, std::string_view read);

  const Options& options_;
  const bool all_turns_;
  std::array<OverrepresentedCounter, 2> counters_;
  std::array<Counts, 2> before_;
  std::array<Counts, 2> after_;
};

}  // namespace biogpu::qc
