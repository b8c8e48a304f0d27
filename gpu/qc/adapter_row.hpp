#pragma once

// The adapter of a read. For .hip files; lib/qc/steps/adapter.hpp states the rules.
#include "gpu/qc/trim_row.hpp"

namespace biogpu::gpu::qc {

// Whether `longer`, without one letter behind its first, agrees with the first n letters of
// `shorter` in all but `allowed`. Both give letter i, longer those up to n.
template <class Longer, class Shorter>
__device__ bool matches_without_one(Longer longer, Shorter shorter, int n, int allowed) {
  if (allowed < 0) return false;
  int right = 0;  // mismatches behind the gap
  for (int i = 1; i < n; ++i) right += longer(i + 1) != shorter(i) ? 1 : 0;
  int left = longer(0) != shorter(0) ? 1 : 0;
  for (int gap = 1; gap < n; ++gap) {
    if (left + right <= allowed) return true;
    left += longer(gap) != shorter(gap) ? 1 : 0;
    right -= longer(gap + 1) != shorter(gap) ? 1 : 0;
  }
  return false;
}

// The first position at which it lies with a gap, for one order of the two texts; -1 where it does
// not. Only the number of letters compared, at most `most`, changes with the position: as long as
// that is `most`, position 0 speaks for all.
template <int kWave, class Longer, class Shorter>
__device__ int first_with_gap(int read_length, int match_require, int n_behind, int most,
                              Longer longer, Shorter shorter) {
  const int end = read_length - match_require - n_behind;
  const auto matches = [&](int pos) {
    const int n = lesser(read_length - pos - n_behind, most);
    return matches_without_one(longer, shorter, n, n / kOneMismatchIn - 1);
  };
  if (end > 0 && matches(0)) return 0;
  const int pos = first_where<kWave>(greater(1, read_length - n_behind - most + 1), end, matches);
  return pos < end ? pos : -1;
}

// Where the adapter lies with one letter more in the read, else with one less; -1: nowhere.
template <int kWave>
__device__ int find_adapter_with_gap(const Row& row, const char* adapter, int adapter_length,
                                     int match_require) {
  const auto read = [&](int i) { return row.base(i); };
  const auto text = [&](int i) { return adapter[i]; };
  const int inserted =
      first_with_gap<kWave>(row.length, match_require, 1, adapter_length, read, text);
  if (inserted >= 0) return inserted;
  return first_with_gap<kWave>(row.length, match_require, 0, adapter_length - 1, text, read);
}

// Cuts the read where the adapter begins; a lane a position. gapped: where it does not, one letter
// more or less is tried too. False when there is none.
template <int kWave>
__device__ bool trim_adapter(Row& row, const char* adapter, int adapter_length, int match_require,
                             bool gapped, TrimResult& result) {
  const int first = adapter_length >= 16   ? -4
                    : adapter_length >= 12 ? -3
                    : adapter_length >= 8  ? -2
                                           : 0;
  const int end = row.length - match_require;
  int pos = first_where<kWave>(first, end, [&](int at) {
    const int compared = lesser(row.length - at, adapter_length);
    const int allowed = compared / kOneMismatchIn;
    int mismatches = 0;
    for (int i = greater(0, -at); i < compared && mismatches <= allowed; ++i)
      mismatches += adapter[i] != row.base(at + i);
    return mismatches <= allowed;
  });
  if (pos >= end) {
    if (!gapped) return false;
    pos = find_adapter_with_gap<kWave>(row, adapter, adapter_length, match_require);
    if (pos < 0) return false;
  }
  if (pos < 0) {
    result.flags |= kAdapterAhead;
    result.adapter_length = adapter_length + pos;
    row.length = 0;
    return true;
  }
  result.adapter_begin = row.begin + pos;
  result.adapter_length = row.length - pos;
  row.length = pos;
  return true;
}

}  // namespace biogpu::gpu::qc
