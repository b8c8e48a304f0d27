#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bio/genome/contig.hpp"
#include "lib/bwt/fm/fm_layout.hpp"
#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/bwt/text/reference.hpp"
#include "lib/core/big_array.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::bwt {

using FmContig = genome::Contig;

// An FM-index over the letters A, C, G, T of a genome: cut at every other letter and at the ends of
// records, so that no match crosses either. Built in memory or mapped from its file; read-only and
// safe to share between threads.
//
// Source  Ferragina, Manzini: Opportunistic data structures with applications.
//         doi:10.1109/SFCS.2000.892127
class FmIndex {
 public:
  struct Settings {
    std::uint64_t sample_rate = 8;  // rows for each position kept
    std::uint64_t table_k = 0;      // letters looked up at once; 0: by the length of the text
    SuffixSortSettings sort;
  };
  static FmIndex build(const Reference& reference, const Settings& settings,
                       SuffixSortReport* report = nullptr);

  // Maps a file. Throws Error{bad_input} for a file that is no index, is cut short, has another
  // checksum or contradicts itself: searches trust every number in it.
  static FmIndex open(const std::string& path, int n_threads);
  // The whole file, which has its name after commit().
  [[nodiscard]] io::OutputFile write(const std::string& path) const;

  const FmHeader& header() const { return *header_; }
  std::span<const FmContig> contigs() const { return contigs_; }
  std::span<const FmSegment> segments() const { return segments_; }
  std::uint64_t bytes() const { return header_->file_bytes; }
  const std::uint8_t* data() const { return data_; }  // bytes() of them, as in the file

  // Rows [0, row) whose symbol is the letter.
  std::uint64_t rank(unsigned letter, std::uint64_t row) const;
  struct Interval {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  Interval table_entry(std::uint64_t kmer) const;
  std::uint64_t sample(std::uint64_t index) const;
  std::span<const FmStart> starts() const { return starts_; }
  const FmBlock* blocks() const { return blocks_; }
  const FmStretch* stretches() const { return stretches_; }

  // 32 letters of the text from position i on, as PackedText::word_at.
  std::uint64_t text_word(std::uint64_t i) const {
    const std::uint64_t* const word = text_ + (i >> 5);
    const unsigned shift = 2 * (i & 31);
    return word[0] << shift | word[1] >> 1 >> (63 - shift);
  }
  const std::uint64_t* text_words() const { return text_; }
  // The segment that position i lies in.
  const FmSegment& segment_of(std::uint64_t i) const;

  // For searches that a file with a sound checksum leads in a circle or out of the text: throws
  // Error{bad_input}.
  [[noreturn]] void refuse_walk() const;

  // Runs of equal symbols in the transform, sentinels included.
  std::uint64_t count_runs() const;
  // Letters [begin, end) of a contig, N for holes.
  std::string extract(std::uint64_t contig, std::uint64_t begin, std::uint64_t end) const;

 private:
  friend class FmBuilder;
  FmIndex() = default;
  void attach();  // sets the views from data_
  void parse_contigs(const std::string& label);

  std::string path_ = "index";     // for messages
  BigArray<std::uint8_t> memory_;  // where it was built
  io::MappedFile file_;            // where it was opened
  const std::uint8_t* data_ = nullptr;
  const FmHeader* header_ = nullptr;
  const FmBlock* blocks_ = nullptr;
  const FmStretch* stretches_ = nullptr;
  const std::uint64_t* text_ = nullptr;
  std::span<const FmStart> starts_;
  std::span<const FmSegment> segments_;
  std::vector<FmContig> contigs_;
};

// The CRC-32 of the CRC-32s of the header but for its checksum, and of each 16 MiB behind it.
std::uint64_t fm_checksum(const std::uint8_t* data, std::uint64_t bytes, int n_threads);

// Letters of one block that occur before bit `offset` of its rows.
inline std::uint64_t count_in_block(const FmBlock& block, unsigned letter, std::uint64_t offset) {
  const std::uint64_t low = letter & 1 ? 0 : ~std::uint64_t{0};
  const std::uint64_t high = letter & 2 ? 0 : ~std::uint64_t{0};
  const std::uint64_t first = (block.low[0] ^ low) & (block.high[0] ^ high) & block.letter[0];
  const std::uint64_t second = (block.low[1] ^ low) & (block.high[1] ^ high) & block.letter[1];
  const std::uint64_t one = 1;
  const std::uint64_t first_mask = offset >= 64 ? ~std::uint64_t{0} : (one << offset) - 1;
  const std::uint64_t second_mask = offset > 64 ? (one << (offset - 64)) - 1 : 0;
  return static_cast<std::uint64_t>(__builtin_popcountll(first & first_mask) +
                                    __builtin_popcountll(second & second_mask));
}

inline std::uint64_t FmIndex::rank(unsigned letter, std::uint64_t row) const {
  const FmBlock& block = blocks_[row / kFmBlockRows];
  return stretches_[row >> kFmStretchShift].count[letter] + block.count[letter] +
         count_in_block(block, letter, row % kFmBlockRows);
}

inline FmIndex::Interval FmIndex::table_entry(std::uint64_t kmer) const {
  const std::uint8_t* const table = data_ + header_->section[fm_table].offset;
  if (header_->row_bytes == 4) {
    const auto* const rows = reinterpret_cast<const std::uint32_t*>(table) + 2 * kmer;
    return {rows[0], rows[1]};
  }
  const auto* const rows = reinterpret_cast<const std::uint64_t*>(table) + 2 * kmer;
  return {rows[0], rows[1]};
}

inline std::uint64_t FmIndex::sample(std::uint64_t index) const {
  const std::uint8_t* const samples = data_ + header_->section[fm_samples].offset;
  return header_->row_bytes == 4 ? reinterpret_cast<const std::uint32_t*>(samples)[index]
                                 : reinterpret_cast<const std::uint64_t*>(samples)[index];
}

}  // namespace biogpu::bwt
