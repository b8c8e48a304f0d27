#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/qc/options/options.hpp"
#include "lib/qc/steps/mate.hpp"
#include "lib/qc/steps/overlap.hpp"
#include "lib/qc/steps/trim_result.hpp"

namespace biogpu::qc {

// Memory of the steps, reused between reads, and what they tell of the last read or pair besides
// its results.
struct TrimScratch {
  std::vector<char> reversed;                               // mate 2, reverse-complemented
  std::vector<BaseChange> corrections;                      // of the pair: read 0 and 1
  std::array<std::vector<std::string_view>, 2> fasta_cuts;  // --adapter_fasta: fastp 1 alone counts
  // For --overlapped_out: fastp writes what follows the overlap in mate 1, in most cases nothing.
  std::optional<Mate> after_overlap;
};

// Runs the steps between UMI and filters on a read: cutting, poly-G, adapters, poly-X, length.
void trim_single(TrimmedRead& read, const Options& options, TrimScratch& scratch);

// The same for a pair, in two parts, between which the letters are still those that came. Once a
// mate is dropped the other is left alone.
// Cuts, removes poly-G tails, finds the overlap and, by it, the corrections.
Overlap trim_pair_to_overlap(TrimmedRead& read1, TrimmedRead& read2, const Options& options,
                             bool want_insert_size, TrimScratch& scratch);
// Makes the corrections; then adapters, poly-X and length.
void trim_pair_after_overlap(TrimmedRead& read1, TrimmedRead& read2, const Overlap& overlap,
                             const Options& options, TrimScratch& scratch);

// The overlap of two mates as they are now; percent replaces --overlap_diff_percent_limit.
Overlap overlap_of(const Mate& mate1, const Mate& mate2, const Options& options, int percent,
                   TrimScratch& scratch);

}  // namespace biogpu::qc
