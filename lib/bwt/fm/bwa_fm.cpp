#include "lib/bwt/fm/bwa_fm.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

#include "lib/core/error.hpp"

namespace biogpu::bwt {
namespace {

constexpr std::uint64_t kHeaderBytes = 40;
constexpr std::uint64_t kBlockSymbols = 128;
constexpr std::uint64_t kBlockWords = 16;  // 8 of counts, 8 of symbols
constexpr std::uint32_t kLowBits = 0x55555555u;

// What both files begin with.
struct BwaHeader {
  std::uint64_t primary;
  std::uint64_t cumulative[4];
};

[[noreturn]] void refuse(const std::string& path) {
  throw Error(ErrorCode::bad_input,
              path +
                  ": is damaged or no index of bwa; expected a file made by 'bwa index' or "
                  "'biogpu bwt index --format bwa'");
}

BwaHeader header_of(const io::MappedFile& file, const std::string& path) {
  BwaHeader header;
  if (file.size() < kHeaderBytes) refuse(path);
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

BwaFm::BwaFm(const std::string& prefix)
    : bwt_(prefix + ".bwt", io::MappedFile::Access::scattered),
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
  if (!sound) refuse(bwt_path);
  blocks_ = reinterpret_cast<const std::uint32_t*>(bwt_.data() + kHeaderBytes);
  if (std::memcmp(sa_.data(), bwt_.data(), kHeaderBytes) != 0 || sa_.size() < kHeaderBytes + 16)
    refuse(sa_path);
  std::memcpy(&sample_rate_, sa_.data() + kHeaderBytes, sizeof sample_rate_);
  if (sample_rate_ == 0 || sa_.size() != kHeaderBytes + 16 + 8 * (n_ / sample_rate_))
    refuse(sa_path);
  samples_ = reinterpret_cast<const std::uint64_t*>(sa_.data() + kHeaderBytes + 16);
  read_names(prefix + ".ann");
}

void BwaFm::read_names(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t n_bases = 0;
  std::uint64_t n_contigs = 0;
  std::string rest;
  if (!file) throw Error(ErrorCode::failed, "cannot open " + path);
  file >> n_bases >> n_contigs;
  std::getline(file, rest);
  if (!file || 2 * n_bases != n_) refuse(path);
  for (std::uint64_t i = 0; i < n_contigs; ++i) {
    ContigName contig;
    std::uint64_t length = 0;
    std::uint64_t n_holes = 0;
    std::getline(file, rest);  // "0 NAME COMMENT"
    const std::size_t blank = rest.find(' ');
    if (blank == rest.npos) refuse(path);
    contig.name = rest.substr(blank + 1, rest.find(' ', blank + 1) - blank - 1);
    file >> contig.offset >> length >> n_holes;
    std::getline(file, rest);
    if (!file) refuse(path);
    contigs_.push_back(std::move(contig));
  }
}

BwaFm::Counts BwaFm::counts_before(std::uint64_t row) const {
  const std::uint64_t stored = row - (row > primary_ ? 1 : 0);  // the sentinel's row is left out
  const std::uint32_t* const block = blocks_ + stored / kBlockSymbols * kBlockWords;
  Counts counts;
  std::memcpy(counts.data(), block, sizeof counts);
  const std::uint64_t n = stored % kBlockSymbols;
  for (std::uint64_t w = 0; w * 16 < n; ++w)
    for (unsigned base = 0; base < 4; ++base)
      counts[base] += count_in_word(block[8 + w], base, std::min<std::uint64_t>(16, n - w * 16));
  return counts;
}

std::array<BwaFm::Rows, 4> BwaFm::extend_left(const Rows& rows) const {
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
  std::uint64_t steps = 0;
  for (; row % sample_rate_ != 0; ++steps) {
    if (row == primary_) return steps;
    const std::uint64_t stored = row - (row > primary_ ? 1 : 0);
    const std::uint32_t word =
        blocks_[stored / kBlockSymbols * kBlockWords + 8 + stored % kBlockSymbols / 16];
    const unsigned base = word >> (30 - 2 * (stored % 16)) & 3;
    row = first_row(base) + counts_before(row)[base];
  }
  // Row 0 is the empty suffix, one step before the first base.
  return row == 0 ? n_ + steps : samples_[row / sample_rate_ - 1] + steps;
}

BwaFm::Place BwaFm::place(std::uint64_t position, std::uint64_t length) const {
  Place place;
  place.reverse = position >= n_ / 2;
  std::uint64_t begin = position;
  if (place.reverse) begin = n_ - 1 - position - std::min(n_ - 1 - position, length - 1);
  const auto after =
      std::upper_bound(contigs_.begin(), contigs_.end(), begin,
                       [](std::uint64_t at, const ContigName& c) { return at < c.offset; });
  const ContigName& contig = *(after - 1);
  place.contig = contig.name;
  place.begin = static_cast<std::int64_t>(begin) - static_cast<std::int64_t>(contig.offset);
  return place;
}

}  // namespace biogpu::bwt
