#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/qc/steps/trim_result.hpp"

namespace biogpu::qc {

// What the steps have left of one read: a part of its record's sequence and quality, in place.
struct Mate {
  char* sequence = nullptr;
  char* quality = nullptr;  // Phred + 33
  int length = 0;
  int front_trimmed = 0;  // by trim_and_cut: the part begins so much further in
  bool dropped = false;   // by trim_and_cut, which then left the rest as it was

  void keep_front(int n) { length = n < length ? n : length; }
};

// A read on its way through the steps, of the CPU or of a device.
struct TrimmedRead {
  Mate original;  // as it came
  Mate mate;      // what the steps have left of it
  TrimResult result;

  bool has(std::uint8_t flag) const { return (result.flags & flag) != 0; }

  // Sets the result from what is left.
  void note_rest() {
    result.begin = static_cast<std::int32_t>(mate.sequence - original.sequence);
    result.length = mate.length;
    if (mate.dropped) result.flags |= kDropped;
  }
  // Takes a device's result.
  void take(const TrimResult& from) {
    result = from;
    mate = original;
    mate.sequence += from.begin;
    mate.quality += from.begin;
    mate.length = from.length;
    mate.dropped = has(kDropped);
  }
  // What was cut as an adapter. `adapter`: the one that was looked for.
  std::string_view adapter_text(std::string_view adapter) const {
    const auto n = static_cast<std::size_t>(result.adapter_length);
    if (has(kAdapterAhead)) return adapter.substr(0, n);
    return {original.sequence + result.adapter_begin, n};
  }
  // The same of a cut by one of the listed adapters.
  std::string_view text_of(const FastaCut& cut, const std::vector<std::string>& adapters) const {
    const auto n = static_cast<std::size_t>(cut.length);
    if (cut.begin >= 0) return {original.sequence + cut.begin, n};
    return std::string_view(adapters[static_cast<std::size_t>(-1 - cut.begin)]).substr(0, n);
  }
};

inline constexpr int kPhredOffset = 33;

}  // namespace biogpu::qc
