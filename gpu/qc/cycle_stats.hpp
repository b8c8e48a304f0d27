#pragma once

#include <cstdint>

#include "gpu/qc/reads.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::qc {

inline constexpr int kLetters = 5;  // A T C G N, told apart by their low three bits
inline constexpr int kKmers = 1024;

// Sums over reads at one cycle (position in the read). Sums of Phred values may be negative and
// are added modulo 2^64.
struct CycleCounts {
  unsigned long long bases[kLetters];
  unsigned long long quality[kLetters - 1];  // Phred, A T C G
  unsigned long long all_bases;
  unsigned long long all_quality;
};

// Sums of one mate, before or after the steps.
struct StatsSums {
  CycleCounts cycles[kMaxLength];
  unsigned long long q20, q30, q40;
  unsigned long long kmers[kKmers];  // base 4, first base highest, A 0, T 1, C 2, G 3
};

// Adds the reads of one mate to sums in device memory.
struct CycleStatsArgs {
  Reads reads;
  const TrimResult* results = nullptr;  // nullptr: all reads whole; else what is left of those
                                        // that count after filtering
  StatsSums* sums = nullptr;
  int mate = 0;
  int max_length = 0;  // of the reads
};

void launch_cycle_stats(const CycleStatsArgs& args, Stream& stream);

}  // namespace biogpu::gpu::qc
