#pragma once

// A read in shared memory, worked on by one wave. For .hip files. All functions here and in the
// other *_row.hpp are called by the whole wave together; every lane holds the same scalars.
#include "gpu/prim/wave.hpp"
#include "gpu/qc/steps.hpp"

namespace biogpu::gpu::qc {

__device__ __forceinline__ int lesser(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ int greater(int a, int b) { return a > b ? a : b; }

// What the steps have left of a read: [begin, begin + length) of the letters.
struct Row {
  char* bases = nullptr;  // [kMaxLength] of the whole read, shared
  char* quality = nullptr;
  int begin = 0;
  int length = 0;
  int front_trimmed = 0;
  bool dropped = false;

  __device__ char base(int i) const { return bases[begin + i]; }
  __device__ int phred33(int i) const { return static_cast<signed char>(quality[begin + i]); }
  __device__ void keep_front(int n) { length = n < length ? n : length; }
};

// The lanes below this one, and this one.
template <int kWave>
__device__ __forceinline__ std::uint64_t lanes_up_to(int lane) {
  return ~std::uint64_t{0} >> (63 - lane);
}

// The first i in [from, to) for which test(i) holds, else `to`.
template <int kWave, class Test>
__device__ int first_where(int from, int to, Test test) {
  for (int at = from; at < to; at += kWave) {
    const int i = at + wave_lane<kWave>();
    const std::uint64_t votes = wave_ballot<kWave>(i < to && test(i));
    if (votes != 0) return at + __ffsll(static_cast<long long>(votes)) - 1;
  }
  return to;
}

// How many i in [0, n) there are for which test(i) holds.
template <int kWave, class Test>
__device__ int count_where(int n, Test test) {
  int count = 0;
  for (int at = 0; at < n; at += kWave) {
    const int i = at + wave_lane<kWave>();
    count += __popcll(wave_ballot<kWave>(i < n && test(i)));
  }
  return count;
}

// The complement as fastp takes it: upper case, N for every other letter.
__device__ __forceinline__ char complement(char base) {
  switch (base & 0xdf) {
    case 'A':
      return 'T';
    case 'T':
      return 'A';
    case 'C':
      return 'G';
    case 'G':
      return 'C';
    default:
      return 'N';
  }
}

}  // namespace biogpu::gpu::qc
