#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/qc/stats/packed_keys.hpp"
#include "lib/qc/stats/text_counts.hpp"

namespace biogpu::qc {

// Over-represented sequences in every read, kept apart by the read's turn: which of the turns are
// sampled is known only where all reads before a shard are. Indices: fastp's worker, then the turn
// among its reads modulo the sampling.
struct TurnCounts {
  std::vector<std::uint64_t> n_reads;             // [workers]
  std::vector<std::vector<std::uint64_t>> found;  // [workers * sampling][candidates]
};

// What a shard keeps besides sums, from which qc-merge makes the report of the whole input.
struct PartialReport {
  // All that was cut off as one, by mate; of profile fastp-1 by fastp's worker too, else all in
  // one.
  std::array<std::vector<TextCounts>, 2> adapters;
  PackedKeys keys;                   // [records][tables] of DuplicateHash, in order
  std::array<TurnCounts, 2> before;  // by mate
  std::array<TurnCounts, 2> after;
};

}  // namespace biogpu::qc
