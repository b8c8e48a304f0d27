#pragma once

// The overlap of two mates and what follows from it. For .hip files; lib/qc/steps/overlap.hpp and
// correct.hpp tell the rules.
#include "gpu/qc/adapter_row.hpp"

namespace biogpu::gpu::qc {

// An offset is accepted or refused by so many of the bases that lie on each other.
inline constexpr int kCompared = 50;
inline constexpr int kPlaneWords = kMaxLength / 32 + 3;  // loads of 64 bits may begin at any base

// Letters as three bits each, a plane of bits for each: A 0, C 1, G 2, T 3, N 4, others 7.
struct Planes {
  std::uint32_t word[3][kPlaneWords];
};

struct Overlap {
  bool found = false;
  int offset = 0;
  int length = 0;
  int diff = 0;
};

__device__ __forceinline__ unsigned letter_code(char letter) {
  switch (letter) {
    case 'A':
      return 0;
    case 'C':
      return 1;
    case 'G':
      return 2;
    case 'T':
      return 3;
    case 'N':
      return 4;
    default:
      return 7;
  }
}

// letter(i) for i in [0, n).
template <int kWave, class Letter>
__device__ void fill_planes(Planes& planes, int n, Letter letter) {
  for (int at = 0; at < n; at += kWave) {
    const int i = at + wave_lane<kWave>();
    const unsigned code = i < n ? letter_code(letter(i)) : 0;
    for (int p = 0; p < 3; ++p) {
      const std::uint64_t bits = wave_ballot<kWave>((code >> p & 1) != 0);
      if (wave_lane<kWave>() < kWave / 32)
        planes.word[p][at / 32 + wave_lane<kWave>()] =
            static_cast<std::uint32_t>(bits >> 32 * wave_lane<kWave>());
    }
  }
}

// 64 bits of a plane, the first for base `at`.
__device__ __forceinline__ std::uint64_t plane_bits(const std::uint32_t* words, int at) {
  const std::uint32_t* from = words + at / 32;
  const int shift = at % 32;
  const std::uint64_t low = from[0] | static_cast<std::uint64_t>(from[1]) << 32;
  return shift == 0 ? low : low >> shift | static_cast<std::uint64_t>(from[2]) << (64 - shift);
}

// How many of n bases differ, n up to 64; the two parts begin at `at1` and `at2`.
__device__ __forceinline__ int count_differing(const Planes& planes1, int at1,
                                               const Planes& planes2, int at2, int n) {
  if (n <= 0) return 0;
  std::uint64_t differ = 0;
  for (int p = 0; p < 3; ++p)
    differ |= plane_bits(planes1.word[p], at1) ^ plane_bits(planes2.word[p], at2);
  return __popcll(differ & (~std::uint64_t{0} >> (64 - n)));
}

// Mate 2 is looked at as its reverse complement; a lane an offset, those from 0 upwards first.
template <int kWave>
__device__ Overlap find_overlap(const Row& row1, const Row& row2, Planes& planes1, Planes& planes2,
                                const StepRules& rules) {
  fill_planes<kWave>(planes1, row1.length, [&](int i) { return row1.base(i); });
  fill_planes<kWave>(planes2, row2.length,
                     [&](int i) { return complement(row2.base(row2.length - 1 - i)); });
  wave_sync<kWave>();
  const auto accepts = [&](int at1, int at2, int length) {
    return count_differing(planes1, at1, planes2, at2, lesser(kCompared, length)) <=
           rules.max_differing[length];
  };
  Overlap overlap;
  const int end1 = row1.length - rules.overlap_require;
  const int end2 = row2.length - rules.overlap_require;
  const int offset = first_where<kWave>(
      0, end1, [&](int i) { return accepts(i, 0, lesser(row1.length - i, row2.length)); });
  if (offset < end1) {
    overlap = {true, offset, lesser(row1.length - offset, row2.length), 0};
  } else {
    const int shift = first_where<kWave>(
        0, end2, [&](int i) { return accepts(0, i, lesser(row1.length, row2.length - i)); });
    if (shift >= end2) return overlap;
    overlap = {true, -shift, lesser(row1.length, row2.length - shift), 0};
  }
  const int part = 64 * wave_lane<kWave>();  // 32 lanes cover 2,048 bases
  overlap.diff = wave_sum<kWave>(count_differing(planes1, greater(0, overlap.offset) + part,
                                                 planes2, greater(0, -overlap.offset) + part,
                                                 lesser(64, overlap.length - part)));
  return overlap;
}

// fastp 1 asks of an overlap with a gap that it nearly agrees without it too, which most do not.
template <class Longer, class Shorter>
__device__ bool overlaps_with_gap(Longer longer, Shorter shorter, int n, int allowed) {
  if (n < 2) return false;
  int different = longer(n) != shorter(n - 1) ? 1 : 0;
  for (int i = 0; i < n - 1 && different <= allowed; ++i)
    different += longer(i) != shorter(i) ? 1 : 0;
  return different <= allowed && matches_without_one(longer, shorter, n, allowed);
}

// fastp 1's second look, at the offsets of find_overlap; a lane an offset.
template <int kWave>
__device__ Overlap find_overlap_with_gap(const Row& row1, const Row& row2, const StepRules& rules) {
  const auto accepts = [&](int at1, int at2, int length) {
    const auto letter1 = [&](int i) { return row1.base(at1 + i); };
    const auto letter2 = [&](int i) { return complement(row2.base(row2.length - 1 - at2 - i)); };
    const int allowed = rules.max_differing[length];
    return overlaps_with_gap(letter1, letter2, length - 1, allowed) ||
           overlaps_with_gap(letter2, letter1, length - 1, allowed);
  };
  const int end1 = row1.length - rules.overlap_require;
  const int end2 = row2.length - rules.overlap_require;
  const int offset = first_where<kWave>(
      0, end1, [&](int i) { return accepts(i, 0, lesser(row1.length - i, row2.length)); });
  if (offset < end1) return {true, offset, lesser(row1.length - offset, row2.length), 0};
  const int shift = first_where<kWave>(
      0, end2, [&](int i) { return accepts(0, i, lesser(row1.length, row2.length - i)); });
  if (shift >= end2) return {};
  return {true, -shift, lesser(row1.length, row2.length - shift), 0};
}

__device__ __forceinline__ int insert_size_of(const Row& row1, const Row& row2,
                                              const Overlap& overlap) {
  if (!overlap.found) return kMaxInsertSize;
  const int fronts = row1.front_trimmed + row2.front_trimmed;
  const int size = overlap.offset > 0 ? row1.length + row2.length - overlap.length + fronts
                                      : overlap.length + fronts;
  return lesser(size, kMaxInsertSize);
}

// Replaces a poor base, here and in the batch, and appends the change.
__device__ __forceinline__ void change_base(const StepsArgs& a, std::uint32_t read, Row& row, int i,
                                            char base, char quality) {
  const int position = row.begin + i;
  row.bases[position] = base;
  row.quality[position] = quality;
  const std::size_t at = a.reads.begin[read] + static_cast<std::size_t>(position);
  a.reads.bases[at] = base;
  a.reads.quality[at] = quality;
  const std::uint32_t slot = atomicAdd(a.n_changes, 1u);
  a.changes[slot] = {read, position, base, quality};
}

// A lane a base of the overlap. Where the mates differ and one has at least Q30, the other at most
// Q14, the poor one becomes the complement of the good one.
template <int kWave>
__device__ void correct_by_overlap(const StepsArgs& a, std::uint32_t read1, Row& row1, Row& row2,
                                   const Overlap& overlap, TrimResult* results) {
  constexpr int kGood = 33 + 30;
  constexpr int kPoor = 33 + 14;
  if (!overlap.found || overlap.diff == 0) return;
  const int start1 = greater(0, overlap.offset);
  const int start2 = row2.length - greater(0, -overlap.offset) - 1;
  bool changed1 = false;
  bool changed2 = false;
  for (int i = wave_lane<kWave>(); i < overlap.length; i += kWave) {
    const char base1 = row1.base(start1 + i);
    const char base2 = row2.base(start2 - i);
    if (base1 == complement(base2)) continue;
    const int quality1 = row1.phred33(start1 + i);
    const int quality2 = row2.phred33(start2 - i);
    if (quality1 >= kGood && quality2 <= kPoor) {
      change_base(a, read1 + 1, row2, start2 - i, complement(base1), static_cast<char>(quality1));
      changed2 = true;
    } else if (quality2 >= kGood && quality1 <= kPoor) {
      change_base(a, read1, row1, start1 + i, complement(base2), static_cast<char>(quality2));
      changed1 = true;
    }
  }
  if (wave_ballot<kWave>(changed1) != 0) results[0].flags |= kCorrected;
  if (wave_ballot<kWave>(changed2) != 0) results[1].flags |= kCorrected;
  wave_sync<kWave>();
}

__device__ __forceinline__ void cut_to(Row& row, int kept, TrimResult& result) {
  const int before = row.length;
  row.keep_front(kept);
  result.flags |= kCutByOverlap;
  result.adapter_begin = row.begin + row.length;
  result.adapter_length = before - row.length;
}

// Cuts both mates behind a fragment that is shorter than they are. False when it is not.
__device__ __forceinline__ bool trim_by_overlap(Row& row1, Row& row2, const Overlap& overlap,
                                                TrimResult* results) {
  if (!overlap.found || overlap.offset >= 0) return false;
  cut_to(row1, overlap.length + row2.front_trimmed, results[0]);
  cut_to(row2, overlap.length + row1.front_trimmed, results[1]);
  return true;
}

}  // namespace biogpu::gpu::qc
