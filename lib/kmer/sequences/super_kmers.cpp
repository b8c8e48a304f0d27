#include "lib/kmer/sequences/super_kmers.hpp"

#include <algorithm>

namespace biogpu::kmer {
namespace {

// What a bin's next super-k-mers will need: bins are written by turns, too many for the machine to
// see it.
constexpr std::size_t kAhead = 128;

}  // namespace

int minimizer_length(int k) {
  if (k < 24) return std::min(k, 9);
  if (k < 40) return 11;
  return k < 80 ? 13 : 15;
}

SuperKmerCutter::SuperKmerCutter(const ScanOptions& options, char min_quality_symbol,
                                 BinStore& store)
    : options_(options),
      min_quality_symbol_(min_quality_symbol),
      writer_(store),
      block_(std::make_unique<ScanBlock>()) {}

void SuperKmerCutter::add(std::string_view sequence, std::string_view quality) {
  const auto k = static_cast<std::size_t>(options_.k);
  if (sequence.size() < k) return;
  ScanBlock& block = *block_;
  for (std::size_t begin = 0; begin + k <= sequence.size();) {
    // A sequence that needs cutting starts in an empty block, so that no part is short.
    if (block.n > 0 && block.n + (sequence.size() - begin) + 1 > ScanBlock::kBases) flush();
    const std::size_t n = std::min(sequence.size() - begin, ScanBlock::kBases - 1);
    char* to = block.text + block.n;
    std::memcpy(to, sequence.data() + begin, n);
    if (min_quality_symbol_ != 0 && !quality.empty())
      mask_low_quality(to, quality.data() + begin, n, min_quality_symbol_);
    to[n] = 'N';
    block.n += n + 1;
    begin += n - (k - 1);
  }
}

void SuperKmerCutter::finish() {
  flush();
  writer_.finish();
}

void SuperKmerCutter::flush() {
  ScanBlock& block = *block_;
  if (block.n == 0) return;
  scan_block(block, options_);
  const auto k = static_cast<std::size_t>(options_.k);
  std::size_t begin = 0;  // of a run of bases
  for (std::size_t word = 0; word <= (block.n - 1) / 64; ++word)
    for (std::uint64_t bits = block.invalid[word]; bits != 0; bits &= bits - 1) {
      const std::size_t at = 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
      if (at >= begin + k) cut_run(begin, at - k + 1);
      begin = at + 1;
    }
  block.n = 0;
}

// Windows [first, last) hold bases only.
void SuperKmerCutter::cut_run(std::size_t first, std::size_t last) {
  n_windows_ += last - first;
  while (first < last) {
    const std::size_t limit = std::min(last, first + kMaxWindows);
    std::size_t next = first;  // becomes the first window of another bin
    while (next < limit) {
      const std::uint64_t bits = block_->ends[next / 64] >> next % 64;
      if (bits != 0) {
        next += static_cast<std::size_t>(std::countr_zero(bits)) + 1;
        break;
      }
      next = (next / 64 + 1) * 64;
    }
    next = std::min(next, limit);
    file(first, next - first);
    first = next;
  }
}

void SuperKmerCutter::file(std::size_t first, std::size_t n) {
  const std::size_t bin = block_->bin[first];
  const std::size_t n_bases = n + static_cast<std::size_t>(options_.k) - 1;
  const std::size_t n_bytes = 1 + (n_bases + 3) / 4;
  char* to = writer_.reserve(bin, n_bytes);
  __builtin_prefetch(to + kAhead, 1);
  *to = static_cast<char>(n - 1);
  for (std::size_t base = 0; base < n_bases; base += 16) {
    const std::uint32_t word = __builtin_bswap32(block_->bases16[first + base]);
    std::memcpy(to + 1 + base / 4, &word, sizeof word);
  }
  writer_.advance(bin, n_bytes, static_cast<std::uint32_t>(n));
}

}  // namespace biogpu::kmer
