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

// The complement as fastp takes it: upper case, N for every other letter.
inline char complement(char base) {
  switch (base) {
    case 'A':
    case 'a':
      return 'T';
    case 'T':
    case 't':
      return 'A';
    case 'C':
    case 'c':
      return 'G';
    case 'G':
    case 'g':
      return 'C';
    default:
      return 'N';
  }
}

}  // namespace biogpu::qc
