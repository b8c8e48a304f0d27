#pragma once

#include <cstdint>

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

inline constexpr int kPhredOffset = 33;

}  // namespace biogpu::qc
