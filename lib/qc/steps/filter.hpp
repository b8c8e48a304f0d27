#pragma once

#include <string_view>

#include "lib/qc/options/options.hpp"
#include "lib/qc/steps/mate.hpp"

namespace biogpu::qc {

// What --failed_out puts after a name.
std::string_view failure_tag(Verdict verdict);

// Qualities and bases of a read as the filters count them.
struct BaseCounts {
  int low_quality = 0;  // below the qualified quality
  int n_bases = 0;      // 'N' only
  int quality_sum = 0;  // Phred
};

BaseCounts count_bases(const char* sequence, const char* quality, int length, int qualified);
BaseCounts count_bases_ref(const char* sequence, const char* quality, int length, int qualified);

// Whether so many neighbours that differ make a read of this length complex enough.
bool is_complex(int n_differing, int length, int percent);

// The first filter that the read fails, in fastp's order.
Verdict filter(const Mate& mate, const Options& options);

// Whether --filter_by_index1 or 2 removes a record of this name (names of these mates).
bool has_listed_index(std::string_view name1, std::string_view name2, const Options& options);

}  // namespace biogpu::qc
