#include "lib/qc/steps/trim.hpp"

#include <algorithm>

namespace biogpu::qc {
namespace {

constexpr int kTailOneMismatchIn = 8;
constexpr int kMaxMismatches = 5;

// The sum over the first window - 1 qualities from `at` on, walking by step.
int sum_but_one(const char* quality, int at, int step, int window) {
  int sum = 0;
  for (int i = 0; i < window - 1; ++i) sum += quality[at + i * step];
  return sum;
}

int threshold(const WindowCut& cut) { return cut.window * (kPhredOffset + cut.quality); }

// Where the kept part begins; length is the read's, tail what is cut off its end anyway.
int cut_from_front(const Mate& mate, int front, int tail, const WindowCut& cut) {
  const int w = cut.window;
  int sum = sum_but_one(mate.quality, front, 1, w);
  int s = front;
  for (; s + w < mate.length - tail; ++s) {
    sum += mate.quality[s + w - 1];
    if (s > front) sum -= mate.quality[s - 1];
    if (sum >= threshold(cut)) break;
  }
  if (s > 0) s += w - 1;
  while (s < mate.length && mate.sequence[s] == 'N') ++s;
  return s;
}

// How much to keep from front on; `kept` when no window fails.
int keep_before_bad_window(const Mate& mate, int front, int tail, int kept, const WindowCut& cut) {
  const int w = cut.window;
  int sum = sum_but_one(mate.quality, front, 1, w);
  for (int s = front; s + w < mate.length - tail; ++s) {
    sum += mate.quality[s + w - 1];
    if (s > front) sum -= mate.quality[s - 1];
    if (sum >= threshold(cut)) continue;
    while (s < mate.length - 1 && mate.quality[s] >= kPhredOffset + cut.quality) ++s;
    return s - front;
  }
  return kept;
}

int keep_after_tail_cut(const Mate& mate, int front, int tail, const WindowCut& cut) {
  const int w = cut.window;
  const int last = mate.length - tail - 1;
  int sum = sum_but_one(mate.quality, last, -1, w);
  int t = last;
  for (; t - w >= front; --t) {
    sum += mate.quality[t - w + 1];
    if (t < last) sum -= mate.quality[t + 1];
    if (sum >= threshold(cut)) break;
  }
  if (t < mate.length - 1) t -= w - 1;
  while (t >= 0 && mate.sequence[t] == 'N') --t;
  return t - front + 1;
}

}  // namespace

void trim_and_cut(Mate& mate, const FixedTrim& trim, const Options& options) {
  int front = trim.front;
  const int tail = trim.tail;
  const bool by_quality = options.cuts_by_quality();
  if (front == 0 && tail == 0 && !by_quality) return;
  int kept = mate.length - front - tail;
  mate.dropped = kept < 0;
  if (mate.dropped) return;
  if (by_quality) {
    const auto too_short = [&](const WindowCut& cut) {
      return mate.length - front - tail - cut.window <= 0;
    };
    mate.dropped = true;
    if (options.cut_front.enabled) {
      if (too_short(options.cut_front)) return;
      front = cut_from_front(mate, front, tail, options.cut_front);
      kept = mate.length - front - tail;
    }
    if (options.cut_right.enabled) {
      if (too_short(options.cut_right)) return;
      kept = keep_before_bad_window(mate, front, tail, kept, options.cut_right);
    } else if (options.cut_tail.enabled) {
      if (too_short(options.cut_tail)) return;
      kept = keep_after_tail_cut(mate, front, tail, options.cut_tail);
    }
    if (kept <= 0 || front >= mate.length - 1) return;
    mate.dropped = false;
  }
  mate.sequence += front;
  mate.quality += front;
  mate.length = std::min(kept, mate.length - front);
  mate.front_trimmed = front;
}

void trim_poly_g(Mate& mate, int min_length) {
  int mismatches = 0;
  int first_g = mate.length - 1;
  int i = 0;
  for (; i < mate.length; ++i) {
    if (mate.sequence[mate.length - i - 1] != 'G')
      ++mismatches;
    else
      first_g = mate.length - i - 1;
    if (mismatches > kMaxMismatches ||
        (mismatches > (i + 1) / kTailOneMismatchIn && i >= min_length - 1))
      break;
  }
  if (i >= min_length && first_g >= 0) mate.keep_front(first_g);
}

PolyX trim_poly_x(Mate& mate, int min_length) {
  constexpr char kBases[] = {'A', 'T', 'C', 'G'};
  int counts[4] = {};
  int pos = 0;
  for (; pos < mate.length; ++pos) {
    const char base = mate.sequence[mate.length - pos - 1];
    for (int b = 0; b < 4; ++b) counts[b] += base == kBases[b] || base == 'N';
    const int n = pos + 1;
    const int allowed = std::min(kMaxMismatches, n / kTailOneMismatchIn);
    const int most = *std::max_element(counts, counts + 4);
    if (n - most > allowed && (pos >= kTailOneMismatchIn || n >= min_length - 1)) break;
  }
  if (pos + 1 < min_length) return {};
  const auto poly = static_cast<int>(std::max_element(counts, counts + 4) - counts);
  // A scan that took the whole read stands one before its first base.
  pos = std::min(pos, mate.length - 1);
  while (pos >= 0 && mate.sequence[mate.length - pos - 1] != kBases[poly]) --pos;
  mate.keep_front(mate.length - pos - 1);
  return {true, poly, pos + 1};
}

}  // namespace biogpu::qc
