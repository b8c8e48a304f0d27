#pragma once

// The arrays of the FM-index as they lie in its file, in host memory and on a device.

#include <cstdint>

namespace biogpu::bwt {

// 128 rows of the transform in one cache line: the symbols as two bit planes, a third plane that
// tells letters from sentinels, and how often each letter occurs before the block in its stretch.
// Row r has bit r % 64 of word r / 64 % 2.
struct alignas(64) FmBlock {
  std::uint32_t count[4];
  std::uint64_t low[2];
  std::uint64_t high[2];
  std::uint64_t letter[2];
};
static_assert(sizeof(FmBlock) == 64);
inline constexpr std::uint64_t kFmBlockRows = 128;
// Counts in blocks are relative to the stretch of 2^31 rows that they lie in.
inline constexpr int kFmStretchShift = 31;

struct FmStretch {
  std::uint64_t count[4];
};

// A run of letters without a hole: text[begin, begin + length) is contig[contig_begin, ...). A
// sentinel follows each segment in the text.
struct FmSegment {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t contig = 0;
  std::uint64_t contig_begin = 0;
};

// The row of a suffix that begins a segment: the transform has a sentinel there.
struct FmStart {
  std::uint64_t row = 0;
  std::uint64_t position = 0;
};

enum FmSection : std::uint32_t {
  fm_blocks,
  fm_stretches,
  fm_table,     // of every k-mer: first row and the row behind the last, row_bytes each
  fm_samples,   // positions of rows 0, sample_rate, ..., row_bytes each
  fm_starts,    // by row
  fm_text,      // 2 bits a letter, sentinels as A; 64-bit words, first letter highest
  fm_segments,  // by begin
  fm_contigs,   // "<length>\t<name>\n" for each
  n_fm_sections
};

// The first bytes of an index file. Sections begin at multiples of 64.
struct FmHeader {
  char mark[8];
  std::uint32_t version;
  std::uint32_t row_bytes;  // 4 or 8
  std::uint64_t n_rows;     // letters and sentinels
  std::uint64_t n_segments;
  std::uint64_t n_contigs;
  std::uint64_t n_bases;  // of all contigs, holes included
  std::uint64_t sample_rate;
  std::uint64_t table_k;
  std::uint64_t first_row[5];  // of the suffixes beginning with A, C, G, T; last: n_rows
  struct Section {
    std::uint64_t offset;
    std::uint64_t bytes;
  } section[n_fm_sections];
  std::uint64_t file_bytes;
  std::uint64_t checksum;  // of all other bytes: fm_checksum()
};
inline constexpr char kFmMark[9] = "bgpufmi1";
inline constexpr std::uint32_t kFmVersion = 2;

}  // namespace biogpu::bwt
