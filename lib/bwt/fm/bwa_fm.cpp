#include "lib/bwt/fm/bwa_fm.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "lib/bwt/suffix/share_work.hpp"
#include "lib/core/error.hpp"

namespace biogpu::bwt {
namespace {

constexpr std::uint64_t kHeaderBytes = 40;
constexpr std::uint64_t kBlockSymbols = 128;
constexpr std::uint64_t kCountWords = 8;   // four counts of 64 bits
constexpr std::uint64_t kBlockWords = 16;  // counts, and 8 words of symbols
constexpr std::uint32_t kLowBits = 0x55555555u;

// What both files begin with.
struct BwaHeader {
  std::uint64_t primary;
  std::uint64_t cumulative[4];
};

BwaHeader header_of(const io::MappedFile& file, const std::string& path) {
  BwaHeader header;
  if (file.size() < kHeaderBytes) refuse_bwa_file(path);
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

// Symbols equal to `base` among the first `n` of a word.
std::uint64_t count_in_word(std::uint32_t word, unsigned base, std::uint64_t n) {
  const std::uint32_t differs = word ^ (base * kLowBits);
  std::uint32_t equal = ~(differs | differs >> 1) & kLowBits;
  if (n < 16) equal &= ~(~std::uint32_t{0} >> (2 * n));
  return static_cast<std::uint64_t>(__builtin_popcount(equal));
}

}  // namespace

BwaFm::BwaFm(const std::string& prefix, int n_threads)
    : path_(prefix),
      bwt_(prefix + ".bwt", io::MappedFile::Access::scattered),
      sa_(prefix + ".sa", io::MappedFile::Access::scattered) {
  const std::string bwt_path = prefix + ".bwt";
  const std::string sa_path = prefix + ".sa";
  const BwaHeader header = header_of(bwt_, bwt_path);
  primary_ = header.primary;
  std::copy(header.cumulative, header.cumulative + 4, cumulative_.begin());
  n_ = cumulative_[3];
  const std::uint64_t n_words = n_ / 16 + (n_ % 16 != 0 ? 1 : 0);
  const bool sound = n_ <= bwt_.size() * 4 &&
                     std::is_sorted(cumulative_.begin(), cumulative_.end()) && primary_ <= n_ &&
                     bwt_.size() == kHeaderBytes + 4 * n_words +
                                        32 * ((n_ + kBlockSymbols - 1) / kBlockSymbols + 1);
  if (!sound) refuse_bwa_file(bwt_path);
  {
    // By a mapping of its own, for all pages are read, and ahead.
    const io::MappedFile whole(bwt_path);
    blocks_ = reinterpret_cast<const std::uint32_t*>(whole.data() + kHeaderBytes);
    if (whole.size() != bwt_.size() || !counts_are_sound(n_threads)) refuse_bwa_file(bwt_path);
  }
  blocks_ = reinterpret_cast<const std::uint32_t*>(bwt_.data() + kHeaderBytes);
  if (sa_.size() < kHeaderBytes + 16 || std::memcmp(sa_.data(), bwt_.data(), kHeaderBytes) != 0)
    refuse_bwa_file(sa_path);
  std::uint64_t n_told = 0;
  std::memcpy(&sample_rate_, sa_.data() + kHeaderBytes, sizeof sample_rate_);
  std::memcpy(&n_told, sa_.data() + kHeaderBytes + 8, sizeof n_told);
  if (n_told != n_ || sample_rate_ == 0 ||
      sa_.size() != kHeaderBytes + 16 + 8 * (n_ / sample_rate_))
    refuse_bwa_file(sa_path);
  samples_ = reinterpret_cast<const std::uint64_t*>(sa_.data() + kHeaderBytes + 16);
  // Both strands: as many A as T, and C as G.
  const auto n_of = [&](unsigned base) { return rows_of(base).size; };
  if (n_ % 2 != 0 || n_of(0) != n_of(3) || n_of(1) != n_of(2)) refuse_bwa_file(bwt_path);
  contigs_ = read_ann(prefix + ".ann", n_ / 2);
  check_amb(prefix + ".amb", n_ / 2, contigs_.size());
  check_pac(prefix + ".pac", n_ / 2);
}

// Whether the counts behind every block are those of its bases, and the last those of the header.
bool BwaFm::counts_are_sound(int n_threads) const {
  constexpr std::uint64_t kBlocksOfJob = std::uint64_t{1} << 16;
  const std::uint64_t n_blocks = (n_ + kBlockSymbols - 1) / kBlockSymbols;
  std::atomic<bool> sound = true;
  const auto check = [&](std::size_t, std::size_t job) {
    const std::uint64_t end = std::min(n_blocks, (job + 1) * kBlocksOfJob);
    for (std::uint64_t b = job * kBlocksOfJob; b < end && sound; ++b) {
      const std::uint32_t* const block = blocks_ + b * kBlockWords;
      const std::uint64_t n = std::min(kBlockSymbols, n_ - b * kBlockSymbols);
      // Those of the next block, or what stands behind the last base.
      if (counts_in(block, n) != counts_in(block + kCountWords + (n + 15) / 16, 0)) sound = false;
    }
  };
  share_work(n_threads, (n_blocks + kBlocksOfJob - 1) / kBlocksOfJob, check);
  const std::uint64_t n_words = (n_ + 15) / 16;
  Counts total = counts_in(blocks_ + n_blocks * kCountWords + n_words, 0);
  for (std::size_t base = 1; base < 4; ++base) total[base] += total[base - 1];
  return sound && total == cumulative_ && counts_in(blocks_, 0) == Counts{};
}

BwaFm::Counts BwaFm::counts_in(const std::uint32_t* block, std::uint64_t n) {
  Counts counts;
  std::memcpy(counts.data(), block, sizeof counts);
  for (std::uint64_t w = 0; w * 16 < n; ++w)
    for (unsigned base = 0; base < 4; ++base)
      counts[base] +=
          count_in_word(block[kCountWords + w], base, std::min<std::uint64_t>(16, n - w * 16));
  return counts;
}

BwaFm::Counts BwaFm::counts_before(std::uint64_t row) const {
  const std::uint64_t stored = row - (row > primary_ ? 1 : 0);  // the sentinel's row is left out
  return counts_in(blocks_ + stored / kBlockSymbols * kBlockWords, stored % kBlockSymbols);
}

std::array<BwaFm::Rows, 4> BwaFm::extend_left(const Rows& rows) const {
  // Rows of the other strand come from the counts of this one, which damaged files may not have
  // alike.
  if (rows.begin > n_ + 1 || rows.size > n_ + 1 - rows.begin) refuse_bwa_file(path_ + ".bwt");
  const Counts before = counts_before(rows.begin);
  const Counts after = counts_before(rows.begin + rows.size);
  std::array<Rows, 4> extended;
  const bool has_sentinel = rows.begin <= primary_ && primary_ < rows.begin + rows.size;
  std::uint64_t other = rows.other_begin + (has_sentinel ? 1 : 0);
  for (unsigned base = 4; base-- > 0;) {
    extended[base] = {first_row(base) + before[base], other, after[base] - before[base]};
    other += extended[base].size;
  }
  return extended;
}

std::uint64_t BwaFm::position(std::uint64_t row) const {
  if (row > n_) refuse_bwa_file(path_ + ".bwt");
  std::uint64_t steps = 0;
  for (; row % sample_rate_ != 0; ++steps) {
    if (row == primary_) return steps;
    const std::uint64_t stored = row - (row > primary_ ? 1 : 0);
    const std::uint32_t word =
        blocks_[stored / kBlockSymbols * kBlockWords + 8 + stored % kBlockSymbols / 16];
    const unsigned base = word >> (30 - 2 * (stored % 16)) & 3;
    row = first_row(base) + counts_before(row)[base];
    if (steps > n_) refuse_bwa_file(path_ + ".bwt");
  }
  // Row 0 is the empty suffix, before which no other lies.
  const std::uint64_t found = row == 0 ? n_ : samples_[row / sample_rate_ - 1];
  if (found >= n_ || steps >= n_ - found) refuse_bwa_file(path_ + ".sa");
  return found + steps;
}

BwaFm::Place BwaFm::place(std::uint64_t position, std::uint64_t length) const {
  Place place;
  place.reverse = position >= n_ / 2;
  std::uint64_t begin = position;
  if (place.reverse) begin = n_ - 1 - position - std::min(n_ - 1 - position, length - 1);
  const auto after =
      std::upper_bound(contigs_.begin(), contigs_.end(), begin,
                       [](std::uint64_t at, const BwaContig& c) { return at < c.offset; });
  const BwaContig& contig = *(after - 1);
  place.contig = contig.name;
  place.begin = static_cast<std::int64_t>(begin) - static_cast<std::int64_t>(contig.offset);
  return place;
}

}  // namespace biogpu::bwt
