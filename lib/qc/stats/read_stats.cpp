#include "lib/qc/stats/read_stats.hpp"

#include <algorithm>

namespace biogpu::qc {
namespace {

constexpr int kMerLength = 5;
constexpr int kBlock = NarrowSums::kBlock;
constexpr char kOffset = '!';

int code_of(char base) {
  switch (base) {
    case 'A':
      return 0;
    case 'T':
      return 1;
    case 'C':
      return 2;
    case 'G':
      return 3;
    default:
      return -1;
  }
}

int letter_of(char base) {
  for (std::size_t k = 0; k < kLetters; ++k)
    if ((base & 7) == kLetterCode[k]) return static_cast<int>(k);
  return -1;
}

}  // namespace

std::uint64_t ReadStats::gc_bases() const {
  std::uint64_t n = 0;
  for (const CycleSums& cycle : cycles) n += cycle.bases[2] + cycle.bases[3];
  return n;
}

void ReadStats::add(const ReadStats& other) {
  n_reads += other.n_reads;
  n_bases += other.n_bases;
  q20_bases += other.q20_bases;
  q30_bases += other.q30_bases;
  q40_bases += other.q40_bases;
  if (cycles.size() < other.cycles.size()) cycles.resize(other.cycles.size());
  for (std::size_t c = 0; c < other.cycles.size(); ++c) {
    CycleSums& to = cycles[c];
    const CycleSums& from = other.cycles[c];
    for (std::size_t k = 0; k < kLetters; ++k) to.bases[k] += from.bases[k];
    for (std::size_t k = 0; k < to.quality.size(); ++k) to.quality[k] += from.quality[k];
    to.all_bases += from.all_bases;
    to.all_quality += from.all_quality;
  }
  for (std::size_t k = 0; k < kKmers; ++k) kmers[k] += other.kmers[k];
}

StatsAdder::StatsAdder() { narrow_.kmers.resize(2 * kKmers); }

void StatsAdder::reserve(int length) {
  if (length <= n_cycles_) return;
  carry();
  n_cycles_ = (std::max(length, 2 * n_cycles_) + kBlock - 1) / kBlock * kBlock;
  const auto n = static_cast<std::size_t>(n_cycles_);
  narrow_.bases.assign(n * kLetters, 0);
  narrow_.quality.assign(n * 5, 0);
  narrow_.codes.resize(n + 2 * kBlock);
  steps_.resize(n + 1);
  stats_.cycles.resize(n);
}

void StatsAdder::add(const char* sequence, const char* quality, int length, int from) {
  if (from >= length) return;
  reserve(length);
  if (!add_narrow(sequence, quality, length, from, narrow_))
    return add_ref(sequence, quality, length, from);
  steps_[static_cast<std::size_t>(from)] += 1;
  steps_[static_cast<std::size_t>(length)] -= 1;
  stats_.n_bases += static_cast<std::uint64_t>(length - from);
  if (++n_added_ == NarrowSums::kMaxReads) carry();
}

void StatsAdder::add_ref(const char* sequence, const char* quality, int length, int from) {
  if (from >= length) return;
  reserve(length);
  steps_[static_cast<std::size_t>(from)] += 1;
  steps_[static_cast<std::size_t>(length)] -= 1;
  stats_.n_bases += static_cast<std::uint64_t>(length - from);
  for (int i = from; i < length; ++i) {
    const int phred = quality[i] - kOffset;
    stats_.q20_bases += phred >= 20;
    stats_.q30_bases += phred >= 30;
    stats_.q40_bases += phred >= 40;
    CycleSums& cycle = stats_.cycles[static_cast<std::size_t>(i)];
    cycle.all_quality += phred;
    const int letter = letter_of(sequence[i]);
    if (letter >= 0) {
      ++cycle.bases[static_cast<std::size_t>(letter)];
      if (letter < 4) cycle.quality[static_cast<std::size_t>(letter)] += phred;
    }
    int kmer = i >= kMerLength - 1 ? 0 : -1;
    for (int k = kMerLength - 1; k >= 0 && kmer >= 0; --k) {
      const int code = code_of(sequence[i - k]);
      kmer = code < 0 ? -1 : kmer * 4 + code;
    }
    if (kmer >= 0) ++stats_.kmers[static_cast<std::size_t>(kmer)];
  }
}

// Moves the narrow sums to the wide ones.
void StatsAdder::carry() {
  n_added_ = 0;
  for (int c = 0; c < n_cycles_; ++c) {
    CycleSums& cycle = stats_.cycles[static_cast<std::size_t>(c)];
    const int block = c / kBlock;
    const int lane = c % kBlock;
    for (int k = 0; k < kLetters; ++k) {
      cycle.bases[static_cast<std::size_t>(k)] +=
          narrow_.bases[static_cast<std::size_t>((block * kLetters + k) * kBlock + lane)];
      const std::uint16_t sum = narrow_.quality[static_cast<std::size_t>(
          (block * 5 + k) * kBlock + lane % 2 * (kBlock / 2) + lane / 2)];
      // The last of them is the sum over all letters; N's own is not reported.
      if (k < 4)
        cycle.quality[static_cast<std::size_t>(k)] += sum;
      else
        cycle.all_quality += sum;
    }
  }
  std::fill(narrow_.bases.begin(), narrow_.bases.end(), std::uint8_t{0});
  std::fill(narrow_.quality.begin(), narrow_.quality.end(), std::uint16_t{0});
  for (std::size_t k = 0; k < kKmers; ++k) stats_.kmers[k] += narrow_.kmers[k];
  std::fill(narrow_.kmers.begin(), narrow_.kmers.end(), 0u);
  stats_.q20_bases += narrow_.q20;
  stats_.q30_bases += narrow_.q30;
  stats_.q40_bases += narrow_.q40;
  narrow_.q20 = narrow_.q30 = narrow_.q40 = 0;
}

ReadStats StatsAdder::take() {
  carry();
  std::int64_t alive = 0;
  for (std::size_t c = 0; c < stats_.cycles.size(); ++c) {
    alive += steps_[c];
    stats_.cycles[c].all_bases = static_cast<std::uint64_t>(alive);
  }
  while (!stats_.cycles.empty() && stats_.cycles.back().all_bases == 0) stats_.cycles.pop_back();
  ReadStats taken = std::move(stats_);
  *this = StatsAdder();
  return taken;
}

}  // namespace biogpu::qc
