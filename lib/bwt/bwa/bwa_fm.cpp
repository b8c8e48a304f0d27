#include "lib/bwt/bwa/bwa_fm.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "lib/core/error.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {
namespace {

constexpr std::uint64_t kHeaderBytes = 40;
constexpr std::uint64_t kCountBytes = 32;  // four counts of 64 bits before each block
constexpr std::uint64_t kBlockBytes = 64;

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

using Counts = std::array<std::uint64_t, 4>;

Counts counts_at(const std::uint8_t* bytes) {
  Counts counts;
  std::memcpy(counts.data(), bytes, sizeof counts);
  return counts;
}

// Every second bit of a word, in its order, as 32 bits.
std::uint64_t even_bits(std::uint64_t word) {
  word &= 0x5555555555555555u;
  word = (word | word >> 1) & 0x3333333333333333u;
  word = (word | word >> 2) & 0x0f0f0f0f0f0f0f0fu;
  word = (word | word >> 4) & 0x00ff00ff00ff00ffu;
  word = (word | word >> 8) & 0x0000ffff0000ffffu;
  return (word | word >> 16) & 0xffffffffu;
}

// The symbols of a block, 16 in each word of 32 bits, the first in its highest.
void set_planes(const std::uint32_t (&words)[8], BwaBlock& block) {
  for (std::size_t half = 0; half < 2; ++half) {
    const std::uint32_t* const w = words + 4 * half;
    const std::uint64_t first = std::uint64_t{w[0]} << 32 | w[1];
    const std::uint64_t second = std::uint64_t{w[2]} << 32 | w[3];
    block.low[half] = even_bits(first) << 32 | even_bits(second);
    block.high[half] = even_bits(first >> 1) << 32 | even_bits(second >> 1);
  }
}

}  // namespace

BwaFm::BwaFm(const std::string& prefix, int n_threads) : path_(prefix) {
  const std::string bwt_path = prefix + ".bwt";
  const io::MappedFile bwt(bwt_path);
  const BwaHeader header = header_of(bwt, bwt_path);
  primary_ = header.primary;
  std::copy(header.cumulative, header.cumulative + 4, cumulative_.begin());
  n_ = cumulative_[3];
  const std::uint64_t n_words = n_ / 16 + (n_ % 16 != 0 ? 1 : 0);
  const bool sound =
      n_ <= bwt.size() * 4 && std::is_sorted(cumulative_.begin(), cumulative_.end()) &&
      primary_ <= n_ &&
      bwt.size() == kHeaderBytes + 4 * n_words +
                        kCountBytes * ((n_ + kBwaBlockSymbols - 1) / kBwaBlockSymbols + 1);
  if (!sound || !read_blocks(bwt, n_threads)) refuse_bwa_file(bwt_path);
  map_samples(prefix + ".sa", &header);
  // Both strands: as many A as T, and C as G.
  const auto n_of = [&](unsigned base) { return rows_of(base).size; };
  if (n_ % 2 != 0 || n_of(0) != n_of(3) || n_of(1) != n_of(2)) refuse_bwa_file(bwt_path);
  contigs_ = read_ann(prefix + ".ann", n_ / 2);
  check_amb(prefix + ".amb", n_ / 2, contigs_.size());
  text_ = BwaText(prefix + ".pac", n_ / 2, n_threads);
}

// Fills blocks_; whether the counts behind every block are those of its bases, and the last those
// of the header.
bool BwaFm::read_blocks(const io::MappedFile& file, int n_threads) {
  constexpr std::uint64_t kBlocksOfJob = std::uint64_t{1} << 14;
  const std::uint8_t* const data = file.data() + kHeaderBytes;
  // One more than have symbols where the last is full: of the counts behind it.
  blocks_ = BigArray<BwaBlock>(n_ / kBwaBlockSymbols + 1);
  std::atomic<bool> sound = counts_at(data) == Counts{};
  const auto read = [&](std::size_t, std::size_t job) {
    const std::uint64_t end = std::min<std::uint64_t>(blocks_.size(), (job + 1) * kBlocksOfJob);
    for (std::uint64_t b = job * kBlocksOfJob; b < end && sound; ++b) {
      const std::uint8_t* const source = data + b * kBlockBytes;
      const std::uint64_t n = std::min(kBwaBlockSymbols, n_ - b * kBwaBlockSymbols);
      const std::uint64_t n_bytes = 4 * ((n + 15) / 16);
      std::uint32_t words[8] = {};
      std::memcpy(words, source + kCountBytes, n_bytes);
      BwaBlock& block = blocks_[b];
      set_planes(words, block);
      Counts counts = counts_at(source);
      const Counts behind = n == 0 ? counts : counts_at(source + kCountBytes + n_bytes);
      for (unsigned base = 0; base < 4; ++base) {
        block.next_row[base] = first_row(base) + counts[base];
        counts[base] += n == kBwaBlockSymbols ? BwaBase(base).n_equal(block)
                                              : BwaBase(base).n_equal(block, BwaPrefix(n));
      }
      if (counts != behind) sound = false;
      if (b + 1 == blocks_.size())
        for (unsigned base = 0; base < 4; ++base)
          if (first_row(base) + counts[base] != first_row(base + 1)) sound = false;
    }
  };
  run_on_threads(n_threads, (blocks_.size() + kBlocksOfJob - 1) / kBlocksOfJob, read);
  return sound;
}

void BwaFm::map_samples(const std::string& path, const void* header) {
  sa_ = io::MappedFile(path, io::MappedFile::Access::scattered);
  if (sa_.size() < kHeaderBytes + 16 || std::memcmp(sa_.data(), header, kHeaderBytes) != 0)
    refuse_bwa_file(path);
  std::uint64_t n_told = 0;
  std::memcpy(&sample_rate_, sa_.data() + kHeaderBytes, sizeof sample_rate_);
  std::memcpy(&n_told, sa_.data() + kHeaderBytes + 8, sizeof n_told);
  if (n_told != n_ || sample_rate_ == 0 ||
      sa_.size() != kHeaderBytes + 16 + 8 * (n_ / sample_rate_))
    refuse_bwa_file(path);
  if (std::has_single_bit(sample_rate_)) sample_mask_ = sample_rate_ - 1;
  samples_ = reinterpret_cast<const std::uint64_t*>(sa_.data() + kHeaderBytes + 16);
}

bool BwaFm::has_all_bases() const {
  return rows_of(0).size != 0 && rows_of(1).size != 0;  // and as many of their complements
}

void BwaFm::refuse_transform() const { refuse_bwa_file(path_ + ".bwt"); }

void BwaFm::refuse_text() const {
  throw Error(ErrorCode::bad_input, path_ + ".sa: leads to other bases than those of " + path_ +
                                        ".pac; one of the files is damaged or of another index");
}

std::uint64_t BwaFm::sampled_position(std::uint64_t row, std::uint64_t n_steps) const {
  if (row == primary_) return n_steps;
  // Row 0 is the empty suffix, before which no other lies.
  const std::uint64_t found = row == 0 ? n_ : samples_[row / sample_rate_ - 1];
  if (found >= n_ || n_steps >= n_ - found) refuse_bwa_file(path_ + ".sa");
  return found + n_steps;
}

std::uint64_t BwaFm::position(std::uint64_t row) const {
  if (row > n_) refuse_transform();
  std::uint64_t n_steps = 0;
  for (; !is_sampled(row); ++n_steps) {
    row = row_before(row);
    if (n_steps > n_) refuse_transform();
  }
  return sampled_position(row, n_steps);
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
