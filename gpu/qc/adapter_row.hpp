#pragma once

// The adapter of a read. For .hip files; lib/qc/steps/adapter.hpp states the rules.
#include "gpu/qc/trim_row.hpp"

namespace biogpu::gpu::qc {

// Cuts the read where the adapter begins; a lane a position. False when there is none.
template <int kWave>
__device__ bool trim_adapter(Row& row, const char* adapter, int adapter_length, int match_require,
                             TrimResult& result) {
  const int first = adapter_length >= 16   ? -4
                    : adapter_length >= 12 ? -3
                    : adapter_length >= 8  ? -2
                                           : 0;
  const int end = row.length - match_require;
  const int pos = first_where<kWave>(first, end, [&](int at) {
    const int compared = lesser(row.length - at, adapter_length);
    const int allowed = compared / kOneMismatchIn;
    int mismatches = 0;
    for (int i = greater(0, -at); i < compared && mismatches <= allowed; ++i)
      mismatches += adapter[i] != row.base(at + i);
    return mismatches <= allowed;
  });
  if (pos >= end) return false;
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
