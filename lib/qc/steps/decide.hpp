#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/qc/options.hpp"
#include "lib/qc/steps/correct.hpp"
#include "lib/qc/steps/mate.hpp"
#include "lib/qc/steps/overlap.hpp"
#include "lib/qc/steps/trim.hpp"

namespace biogpu::qc {

inline constexpr int kMaxInsertSize = 512;

// What the steps did to one read beside shortening it.
struct MateNotes {
  std::string_view adapter;  // to report as cut; empty when no adapter was
  std::vector<std::string_view>
      fasta_adapters;  // the same of --adapter_fasta: fastp 1 alone counts
  PolyX poly_x;
  bool dimer = false;  // fastp 1: nothing but an adapter
  bool found_adapter() const { return !adapter.empty() || !fasta_adapters.empty(); }
};

struct PairNotes {
  MateNotes mate[2];
  bool dimer = false;           // fastp 1: nothing but adapters
  bool cut_by_overlap = false;  // then both adapters count, even an empty one
  int insert_size = 0;          // where it was asked for
  int n_corrected_mates = 0;
  // For --overlapped_out: fastp writes what follows the overlap in mate 1, in most cases nothing.
  bool overlapped = false;
  Mate after_overlap;
};

// Reused between pairs.
struct Scratch {
  std::vector<char> reversed;           // mate 2, reverse-complemented
  std::vector<Correction> corrections;  // of the last pair
};

// Runs the steps between UMI and filters on a read: cutting, poly-G, adapters, poly-X, length.
MateNotes trim_single(Mate& mate, const Options& options);

// The same for a pair, with overlap analysis and base correction between poly-G and adapters; once
// a mate is dropped the other is left alone. Corrections are made in place and listed in scratch.
PairNotes trim_pair(Mate& mate1, Mate& mate2, const Options& options, bool want_insert_size,
                    Scratch& scratch);

// The overlap of two mates as they are now; percent replaces --overlap_diff_percent_limit.
Overlap overlap_of(const Mate& mate1, const Mate& mate2, const Options& options, int percent,
                   Scratch& scratch);

}  // namespace biogpu::qc
