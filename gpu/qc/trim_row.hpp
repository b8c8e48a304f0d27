#pragma once

// The steps that shorten one read: fixed trimming, sliding windows, tails of one base, adapters.
// For .hip files. Their rules are fastp's; lib/qc/steps has the plain versions.
#include "gpu/qc/read_row.hpp"

namespace biogpu::gpu::qc {

inline constexpr int kOneMismatchIn = 8;
inline constexpr int kMaxTailMismatches = 5;

// The sum of a window's qualities from `at` on. A window is a few bases: each lane adds its own up.
__device__ __forceinline__ int window_sum(const Row& row, int at, int window) {
  int sum = 0;
  for (int i = 0; i < window; ++i) sum += row.phred33(at + i);
  return sum;
}

// Where the kept part begins; tail is what is cut off the end anyway.
template <int kWave>
__device__ int cut_from_front(const Row& row, int front, int tail, const WindowRule& rule) {
  const int w = rule.window;
  int s = first_where<kWave>(front, row.length - tail - w,
                             [&](int i) { return window_sum(row, i, w) >= rule.least; });
  if (s > 0) s += w - 1;
  return first_where<kWave>(s, row.length, [&](int i) { return row.base(i) != 'N'; });
}

// How much to keep from front on; `kept` when no window fails.
template <int kWave>
__device__ int keep_before_bad_window(const Row& row, int front, int tail, int kept,
                                      const WindowRule& rule) {
  const int w = rule.window;
  const int end = row.length - tail - w;
  const int s =
      first_where<kWave>(front, end, [&](int i) { return window_sum(row, i, w) < rule.least; });
  if (s == end) return kept;
  return first_where<kWave>(s, row.length - 1,
                            [&](int i) { return row.phred33(i) < rule.quality; }) -
         front;
}

template <int kWave>
__device__ int keep_after_tail_cut(const Row& row, int front, int tail, const WindowRule& rule) {
  const int w = rule.window;
  const int last = row.length - tail - 1;
  int t = last - first_where<kWave>(0, last - front - w + 1, [&](int k) {
            return window_sum(row, last - k - w + 1, w) >= rule.least;
          });
  if (t < row.length - 1) t -= w - 1;
  t -= first_where<kWave>(0, t + 1, [&](int k) { return row.base(t - k) != 'N'; });
  return t - front + 1;
}

template <int kWave>
__device__ void trim_and_cut(Row& row, const TrimRule& trim, const StepRules& rules) {
  int front = trim.front;
  const int tail = trim.tail;
  const bool by_quality =
      rules.cut_front.window > 0 || rules.cut_tail.window > 0 || rules.cut_right.window > 0;
  if (front == 0 && tail == 0 && !by_quality) return;
  int kept = row.length - front - tail;
  row.dropped = kept < 0;
  if (row.dropped) return;
  if (by_quality) {
    row.dropped = true;
    const auto too_short = [&](const WindowRule& rule) {
      return row.length - front - tail - rule.window <= 0;
    };
    if (rules.cut_front.window > 0) {
      if (too_short(rules.cut_front)) return;
      front = cut_from_front<kWave>(row, front, tail, rules.cut_front);
      kept = row.length - front - tail;
    }
    if (rules.cut_right.window > 0) {
      if (too_short(rules.cut_right)) return;
      kept = keep_before_bad_window<kWave>(row, front, tail, kept, rules.cut_right);
    } else if (rules.cut_tail.window > 0) {
      if (too_short(rules.cut_tail)) return;
      kept = keep_after_tail_cut<kWave>(row, front, tail, rules.cut_tail);
    }
    if (kept <= 0 || front >= row.length - 1) return;
    row.dropped = false;
  }
  row.begin += front;
  row.length = lesser(kept, row.length - front);
  row.front_trimmed = front;
}

// Walks from the tail; lane l of a round looks at base i = at + l from the end.
template <int kWave>
__device__ void trim_poly_g(Row& row, int min_length) {
  const int lane = wave_lane<kWave>();
  int before = 0;  // mismatches of earlier rounds
  int first_g = row.length - 1;
  int stop = row.length;
  for (int at = 0; at < row.length && stop == row.length; at += kWave) {
    const int i = at + lane;
    const bool inside = i < row.length;
    const bool is_g = inside && row.base(row.length - 1 - i) == 'G';
    const std::uint64_t others = wave_ballot<kWave>(inside && !is_g);
    const int mismatches = before + __popcll(others & lanes_up_to<kWave>(lane));
    const std::uint64_t stops = wave_ballot<kWave>(
        inside && (mismatches > kMaxTailMismatches ||
                   (mismatches > (i + 1) / kOneMismatchIn && i >= min_length - 1)));
    const int last = stops != 0 ? __ffsll(static_cast<long long>(stops)) - 1 : kWave - 1;
    const std::uint64_t gs = wave_ballot<kWave>(is_g) & lanes_up_to<kWave>(last);
    if (gs != 0) first_g = row.length - 1 - (at + 63 - __clzll(static_cast<long long>(gs)));
    if (stops != 0) stop = at + last;
    before += __popcll(others);
  }
  if (stop >= min_length && first_g >= 0) row.keep_front(first_g);
}

// The same for the base that the tail holds most of; N counts for every base.
template <int kWave>
__device__ void trim_poly_x(Row& row, int min_length, TrimResult& result) {
  constexpr char kBases[] = {'A', 'T', 'C', 'G'};
  const int lane = wave_lane<kWave>();
  int counts[4] = {0, 0, 0, 0};  // up to where the scan stopped
  int stop = row.length;
  for (int at = 0; at < row.length && stop == row.length; at += kWave) {
    const int i = at + lane;
    const bool inside = i < row.length;
    const char base = inside ? row.base(row.length - 1 - i) : '\0';
    std::uint64_t is[4];
    int most = 0;
    for (int b = 0; b < 4; ++b) {
      is[b] = wave_ballot<kWave>(base == kBases[b] || base == 'N');
      most = greater(most, counts[b] + __popcll(is[b] & lanes_up_to<kWave>(lane)));
    }
    const int n = i + 1;
    const int allowed = lesser(kMaxTailMismatches, n / kOneMismatchIn);
    const std::uint64_t stops = wave_ballot<kWave>(inside && n - most > allowed &&
                                                   (i >= kOneMismatchIn || n >= min_length - 1));
    const int last = stops != 0 ? __ffsll(static_cast<long long>(stops)) - 1 : kWave - 1;
    if (stops != 0) stop = at + last;
    for (int b = 0; b < 4; ++b) counts[b] += __popcll(is[b] & lanes_up_to<kWave>(last));
  }
  if (stop + 1 < min_length) return;
  int poly = 0;
  for (int b = 1; b < 4; ++b) poly = counts[b] > counts[poly] ? b : poly;
  const int from = lesser(stop, row.length - 1);
  const int pos = from - first_where<kWave>(0, from + 1, [&](int k) {
                    return row.base(row.length - 1 - from + k) == kBases[poly];
                  });
  row.keep_front(row.length - pos - 1);
  result.flags |= kHasPolyX;
  result.poly_x = static_cast<std::uint8_t>(poly);
  result.poly_x_length = pos + 1;
}

}  // namespace biogpu::gpu::qc
