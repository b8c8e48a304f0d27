#include "lib/bwt/fm/fm_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "lib/core/error.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {
namespace {

constexpr std::uint64_t kMaxBases = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxSampleRate = 1024;
constexpr std::uint64_t kMaxTableK = 14;
constexpr std::uint64_t kBlocksPerStretch = (std::uint64_t{1} << kFmStretchShift) / kFmBlockRows;

using Counts = std::array<std::uint64_t, 4>;

[[noreturn]] void refuse_header(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

bool numbers_agree(const FmHeader& header) {
  return (header.row_bytes == 8 || (header.row_bytes == 4 && header.n_rows >> 32 == 0)) &&
         header.sample_rate > 0 && header.sample_rate <= kMaxSampleRate && header.table_k > 0 &&
         header.table_k <= kMaxTableK && header.n_rows < header.file_bytes * 8 &&
         header.n_bases <= kMaxBases && header.n_segments <= header.n_rows &&
         header.n_contigs <= header.section[fm_contigs].bytes &&
         header.first_row[0] == header.n_segments && header.first_row[4] == header.n_rows &&
         std::is_sorted(header.first_row, header.first_row + 5);
}

bool sections_fit(const FmHeader& header) {
  for (const FmHeader::Section& section : header.section)
    if (section.offset % 64 != 0 || section.offset > header.file_bytes ||
        section.bytes > header.file_bytes - section.offset)
      return false;
  const auto bytes = [&](FmSection s) { return header.section[s].bytes; };
  return bytes(fm_blocks) == (header.n_rows / kFmBlockRows + 1) * sizeof(FmBlock) &&
         bytes(fm_stretches) == ((header.n_rows >> kFmStretchShift) + 1) * sizeof(FmStretch) &&
         bytes(fm_table) == (std::uint64_t{2} << (2 * header.table_k)) * header.row_bytes &&
         bytes(fm_samples) ==
             (header.n_rows + header.sample_rate - 1) / header.sample_rate * header.row_bytes &&
         bytes(fm_starts) == header.n_segments * sizeof(FmStart) &&
         bytes(fm_text) == ((header.n_rows + 31) / 32 + 2) * 8 &&
         bytes(fm_segments) == header.n_segments * sizeof(FmSegment);
}

bool contigs_agree(const FmIndex& index) {
  std::uint64_t left = index.header().n_bases;
  for (const FmContig& contig : index.contigs()) {
    if (contig.length > left) return false;
    left -= contig.length;
  }
  return left == 0 && index.contigs().size() == index.header().n_contigs;
}

// Segments cover the text, a sentinel behind each, and their records in order.
bool segments_agree(const FmIndex& index) {
  std::uint64_t text_end = 0;
  std::uint64_t contig = 0;
  std::uint64_t contig_end = 0;
  for (const FmSegment& segment : index.segments()) {
    if (segment.begin != text_end || segment.length == 0 ||
        segment.length >= index.header().n_rows - text_end || segment.contig < contig ||
        segment.contig >= index.contigs().size())
      return false;
    if (segment.contig != contig) contig_end = 0;
    contig = segment.contig;
    const std::uint64_t length = index.contigs()[contig].length;
    if (segment.contig_begin < contig_end || segment.contig_begin > length ||
        segment.length > length - segment.contig_begin)
      return false;
    contig_end = segment.contig_begin + segment.length;
    text_end += segment.length + 1;
  }
  return text_end == index.header().n_rows;
}

bool has_sentinel(const FmIndex& index, std::uint64_t row) {
  return (index.blocks()[row / kFmBlockRows].letter[row / 64 % 2] >> row % 64 & 1) == 0;
}

// Each is a row with a sentinel, no two the same one.
bool starts_agree(const FmIndex& index) {
  const FmStart* before = nullptr;
  for (const FmStart& start : index.starts()) {
    if (start.row >= index.header().n_rows || (before != nullptr && start.row <= before->row) ||
        !has_sentinel(index, start.row) || start.position >= index.header().n_rows ||
        index.segment_of(start.position).begin != start.position)
      return false;
    before = &start;
  }
  return true;
}

// Letters of the block, added to counts. False where its planes disagree or go beyond the rows.
bool add_block(const FmBlock& block, std::uint64_t n_rows, Counts& counts) {
  for (std::size_t word = 0; word < 2; ++word) {
    const std::uint64_t before = 64 * word;
    const std::uint64_t n = n_rows <= before ? 0 : std::min<std::uint64_t>(64, n_rows - before);
    const std::uint64_t beyond = n == 64 ? 0 : ~std::uint64_t{0} << n;
    const std::uint64_t letter = block.letter[word];
    if ((letter & beyond) != 0 || ((block.low[word] | block.high[word]) & ~letter) != 0)
      return false;
    for (std::size_t c = 0; c < 4; ++c) {
      const std::uint64_t low = (c & 1) != 0 ? block.low[word] : ~block.low[word];
      const std::uint64_t high = (c & 2) != 0 ? block.high[word] : ~block.high[word];
      counts[c] += static_cast<std::uint64_t>(std::popcount(low & high & letter));
    }
  }
  return true;
}

// What the index holds of letters before a block.
Counts counts_before(const FmIndex& index, std::uint64_t block) {
  Counts counts;
  for (std::size_t c = 0; c < 4; ++c)
    counts[c] =
        index.stretches()[block / kBlocksPerStretch].count[c] + index.blocks()[block].count[c];
  return counts;
}

// Counts are those of the letters before, and all together those of the header.
bool blocks_agree(const FmIndex& index, int n_threads) {
  const FmHeader& header = index.header();
  const std::uint64_t n_blocks = header.n_rows / kFmBlockRows + 1;
  std::atomic<bool> agree = counts_before(index, 0) == Counts{};
  run_ranges_on_threads(
      n_threads, n_blocks, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
        Counts counts = counts_before(index, begin);
        for (std::uint64_t b = begin; b < end && agree; ++b) {
          const bool sound = counts == counts_before(index, b) &&
                             (b % kBlocksPerStretch != 0 ||
                              std::ranges::all_of(index.blocks()[b].count,
                                                  [](auto count) { return count == 0; })) &&
                             add_block(index.blocks()[b], header.n_rows - b * kFmBlockRows, counts);
          if (!sound) agree = false;
        }
        Counts wanted;
        for (std::size_t c = 0; c < 4; ++c)
          wanted[c] = header.first_row[c + 1] - header.first_row[c];
        if (counts != (end < n_blocks ? counts_before(index, end) : wanted)) agree = false;
      });
  return agree;
}

bool rows_agree(const FmIndex& index, int n_threads) {
  const FmHeader& header = index.header();
  std::atomic<bool> agree = true;
  run_ranges_on_threads(n_threads, std::uint64_t{1} << (2 * header.table_k),
                        [&](std::size_t, std::uint64_t kmer, std::uint64_t end) {
                          for (; kmer < end && agree; ++kmer) {
                            const FmIndex::Interval rows = index.table_entry(kmer);
                            if (rows.begin > rows.end || rows.end > header.n_rows) agree = false;
                          }
                        });
  const std::uint64_t n_samples = header.section[fm_samples].bytes / header.row_bytes;
  run_ranges_on_threads(n_threads, n_samples, [&](std::size_t, std::uint64_t i, std::uint64_t end) {
    for (; i < end && agree; ++i)
      if (index.sample(i) >= header.n_rows) agree = false;
  });
  return agree;
}

}  // namespace

void check_fm_header(const FmHeader& header, std::uint64_t file_bytes, const std::string& path) {
  if (std::memcmp(header.mark, kFmMark, sizeof header.mark) != 0)
    refuse_header(path, "is no biogpu index; expected a file made by 'biogpu bwt index'");
  if (header.version != kFmVersion)
    refuse_header(
        path, fmt::format("has index version {}; this program reads version {}; index the genome "
                          "again",
                          header.version, kFmVersion));
  if (header.file_bytes != file_bytes)
    refuse_header(path, fmt::format("has {} bytes, expected {}; the file may be cut short",
                                    file_bytes, header.file_bytes));
  if (!numbers_agree(header) || !sections_fit(header))
    refuse_header(path, "has a damaged header; index the genome again");
}

bool fm_sections_agree(const FmIndex& index, int n_threads) {
  return contigs_agree(index) && segments_agree(index) && blocks_agree(index, n_threads) &&
         starts_agree(index) && rows_agree(index, n_threads);
}

}  // namespace biogpu::bwt
