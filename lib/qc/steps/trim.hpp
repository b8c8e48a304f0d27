#pragma once

#include "lib/qc/options/options.hpp"
#include "lib/qc/steps/mate.hpp"

namespace biogpu::qc {

// Cuts trim.front and trim.tail bases off, then what the sliding windows ask for: from the front,
// then from the right or else from the tail. Drops the read where nothing useful is left. A window
// passes when its mean quality reaches the bound; the last full window is never looked at and a
// front or tail that was cut at all loses window - 1 further bases: fastp's rules, kept.
void trim_and_cut(Mate& mate, const FixedTrim& trim, const Options& options);

// Cuts a tail of at least min_length mostly-G bases: at most one mismatch in 8 and 5 in all.
void trim_poly_g(Mate& mate, int min_length);

// What trim_poly_x found; length may be 0 for a tail of N.
struct PolyX {
  bool found = false;
  int base = 0;  // index into "ATCG"
  int length = 0;
};

// Cuts a tail of at least min_length bases that are mostly the same; N counts for every base.
PolyX trim_poly_x(Mate& mate, int min_length);

}  // namespace biogpu::qc
