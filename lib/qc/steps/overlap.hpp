#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/qc/options/options.hpp"
#include "lib/qc/steps/mate.hpp"

namespace biogpu::qc {

// How mate 2, reverse-complemented, lies on mate 1: base i of it on base offset + i.
struct Overlap {
  bool found = false;
  int offset = 0;  // negative: the fragment is shorter than a read, adapters follow it
  int length = 0;  // bases that lie on each other
  int diff = 0;    // of them, mismatches
};

struct OverlapRules {
  int require = 30;  // bases; bounds the offsets only
  int diff_limit = 5;
  int diff_percent = 20;
};

// How many of the compared bases of an overlap of so many may differ.
inline int max_differing(int length, const OverlapRules& rules) {
  const int limit = static_cast<int>(length * (rules.diff_percent / 100.0));
  return limit < rules.diff_limit ? limit : rules.diff_limit;
}

// The first offset, from 0 up to the end of mate 1 and then from 0 downwards, at which the first 50
// bases hold no more mismatches than min(diff_limit, diff_percent of the overlap). `reversed` is
// mate 2 as reverse_complement wrote it; both are followed by 64 readable bytes.
// Source: Chen et al., doi:10.1093/bioinformatics/bty560.
Overlap find_overlap(const char* sequence1, int length1, const char* reversed, int length2,
                     const OverlapRules& rules);

// fastp 1's second look, where find_overlap finds nothing: the same offsets, at which one of the
// two has one base more. diff is not known.
Overlap find_overlap_with_gap(std::string_view sequence1, std::string_view reversed,
                              const OverlapRules& rules);

// The same, base by base: what the vector version is tested against.
Overlap find_overlap_ref(const char* sequence1, int length1, const char* reversed, int length2,
                         const OverlapRules& rules);

// Writes the reverse complement of a sequence to `to`, which has room for 64 bytes more.
void reverse_complement(const char* sequence, int length, char* to);

}  // namespace biogpu::qc
