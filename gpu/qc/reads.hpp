#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/qc/steps/trim_result.hpp"

namespace biogpu::gpu::qc {

using biogpu::qc::BaseChange;
using biogpu::qc::FastaCut;
using biogpu::qc::kAdapterAhead;
using biogpu::qc::kCorrected;
using biogpu::qc::kCountsAfter;
using biogpu::qc::kCutByOverlap;
using biogpu::qc::kDropped;
using biogpu::qc::kFastaAdapter;
using biogpu::qc::kHasPolyX;
using biogpu::qc::kMaxInsertSize;
using biogpu::qc::TrimResult;
using biogpu::qc::Verdict;

// The longest read that the kernels take; a batch with a longer one is the CPU's.
inline constexpr int kMaxLength = 512;

// A batch of reads in device memory. Of pairs, read 2 i is the first mate and 2 i + 1 the second.
struct Reads {
  char* bases = nullptr;                  // [n_bytes]; corrected in place
  char* quality = nullptr;                // [n_bytes] Phred + 33
  const std::uint32_t* begin = nullptr;   // [n_reads + 1] of each read in both
  const std::uint8_t* removed = nullptr;  // [n_reads / mates] not 0: a duplicate, left out of
                                          // the statistics after filtering; nullptr: none is
  std::uint32_t n_reads = 0;
  int mates = 1;  // 2: pairs
};

}  // namespace biogpu::gpu::qc
