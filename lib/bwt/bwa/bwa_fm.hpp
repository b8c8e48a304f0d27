#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bwt/bwa/bwa_block.hpp"
#include "lib/bwt/bwa/bwa_files.hpp"
#include "lib/bwt/bwa/bwa_text.hpp"
#include "lib/core/big_array.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::bwt {

// An index made by `bwa index` or with --format bwa, for searches in both directions: the text
// holds both strands, so the rows of a string and of its reverse complement are as many.
//
// Source  Li: Exploring single-sample SNP and INDEL calling with whole-genome de novo assembly.
//         doi:10.1093/bioinformatics/bts280, sections 2.2 to 2.4
class BwaFm {
 public:
  // Reads PREFIX.ann, PREFIX.bwt and PREFIX.pac, which may be missing, and maps PREFIX.sa. Throws
  // Error{bad_input} for damaged files: their counts must be those of their bases, so that no step
  // leaves the rows, and the sizes of all five files those of one index.
  BwaFm(const std::string& prefix, int n_threads);

  // Rows of the strings that begin with a match, and of those with its reverse complement.
  struct Rows {
    std::uint64_t begin = 0;
    std::uint64_t other_begin = 0;
    std::uint64_t size = 0;
  };
  // Those of the empty string.
  Rows all_rows() const { return {0, 0, n_ + 1}; }
  Rows rows_of(unsigned base) const {
    return {first_row(base), first_row(3 - base), first_row(base + 1) - first_row(base)};
  }
  // The rows of the match with the base before it, and behind it.
  Rows extend_left(const Rows& rows, unsigned base) const;
  Rows extend_right(const Rows& rows, unsigned base) const {
    // A base behind the match is its complement before the other strand's.
    const Rows next = extend_left({rows.other_begin, rows.begin, rows.size}, 3 - base);
    return {next.other_begin, next.begin, next.size};
  }
  // Inlined always: a call of a function that only prefetches is left out as one without effect.
  [[gnu::always_inline]] void prefetch_left(const Rows& rows) const {
    prefetch(rows.begin, rows.size);
  }
  [[gnu::always_inline]] void prefetch_right(const Rows& rows) const {
    prefetch(rows.other_begin, rows.size);
  }

  // To the position of a row's suffix lead steps to the suffix one base longer, as many as `row`
  // needs to become one whose position is known: of the whole text, or of a sample.
  bool is_sampled(std::uint64_t row) const { return next_sample(row) == row; }
  // The first sampled row at or behind this one.
  std::uint64_t next_sample(std::uint64_t row) const {
    const std::uint64_t over = sample_mask_ != kNoMask ? row & sample_mask_ : row % sample_rate_;
    const std::uint64_t next = over == 0 ? row : row + (sample_rate_ - over);
    return row <= primary_ && primary_ < next ? primary_ : next;
  }
  [[gnu::always_inline]] void prefetch_sample(std::uint64_t row) const {
    __builtin_prefetch(samples_ + row / sample_rate_ - 1);
  }
  std::uint64_t row_before(std::uint64_t row) const;
  // The first of so many rows and those behind it that have the same base before their suffixes and
  // lie in one block: they stay together. None of them is the whole text.
  struct Step {
    std::uint64_t row = 0;  // where the first of them leads to
    std::uint64_t n_rows = 0;
  };
  Step rows_before(std::uint64_t row, std::uint64_t n_rows) const;
  [[gnu::always_inline]] void prefetch_row(std::uint64_t row) const {
    __builtin_prefetch(blocks_.data() + stored(row) / kBwaBlockSymbols);
  }
  // Of the suffix that begins n_steps behind that of a sampled row. Throws Error{bad_input} where
  // the files lead nowhere.
  std::uint64_t sampled_position(std::uint64_t row, std::uint64_t n_steps) const;
  // Position in the text of both strands of the suffix in this row, by these steps.
  std::uint64_t position(std::uint64_t row) const;

  struct Place {
    std::string_view contig;
    std::int64_t begin = 0;  // in the contig; below 0 where the match began before it
    bool reverse = false;
  };
  // Where a match of `length` bases at this position of the text lies, as `bwa fastmap` tells it.
  Place place(std::uint64_t position, std::uint64_t length) const;

  std::uint64_t size() const { return n_; }  // bases of both strands
  std::uint64_t sample_rate() const { return sample_rate_; }
  // Whether each of the four bases occurs.
  bool has_all_bases() const;
  const BwaText& text() const { return text_; }
  // Throw Error{bad_input}: rows lead nowhere; the positions in .sa are not those of the bases in
  // .pac.
  [[noreturn]] void refuse_transform() const;
  [[noreturn]] void refuse_text() const;

 private:
  static constexpr std::uint64_t kNoMask = ~std::uint64_t{0};

  std::uint64_t first_row(unsigned base) const {
    return 1 + (base == 0 ? 0 : cumulative_[base - 1]);
  }
  // The symbols before a row's: that of the sentinel is left out.
  std::uint64_t stored(std::uint64_t row) const { return row - (row > primary_ ? 1 : 0); }
  [[gnu::always_inline]] void prefetch(std::uint64_t row, std::uint64_t n_rows) const {
    __builtin_prefetch(blocks_.data() + stored(row) / kBwaBlockSymbols);
    __builtin_prefetch(blocks_.data() + stored(row + n_rows) / kBwaBlockSymbols);
  }
  bool read_blocks(const io::MappedFile& file, int n_threads);
  void map_samples(const std::string& path, const void* header);

  std::string path_;
  io::MappedFile sa_;
  std::uint64_t primary_ = 0;
  std::array<std::uint64_t, 4> cumulative_{};
  std::uint64_t n_ = 0;
  std::uint64_t sample_rate_ = 32;
  std::uint64_t sample_mask_ = kNoMask;  // where the rate is a power of two
  BigArray<BwaBlock> blocks_;
  const std::uint64_t* samples_ = nullptr;  // of rows sample_rate_, 2 * sample_rate_, ...
  std::vector<BwaContig> contigs_;
  BwaText text_;
};

inline BwaFm::Rows BwaFm::extend_left(const Rows& rows, unsigned base) const {
  // Rows of the other strand come from the counts of this one, which damaged files may not have
  // alike.
  if (rows.begin > n_ + 1 || rows.size > n_ + 1 - rows.begin) refuse_transform();
  const std::uint64_t begin = stored(rows.begin);
  const std::uint64_t end = stored(rows.begin + rows.size);
  const BwaBlock& first = blocks_[begin / kBwaBlockSymbols];
  const BwaBlock& last = blocks_[end / kBwaBlockSymbols];
  const BwaPrefix before(begin % kBwaBlockSymbols);
  const BwaPrefix up_to(end % kBwaBlockSymbols);
  const BwaBase symbol(base);
  std::uint64_t larger = symbol.n_larger(last, up_to) - symbol.n_larger(first, before);
  for (unsigned b = 1; b < 4; ++b)
    larger += (last.next_row[b] - first.next_row[b]) & (std::uint64_t{0} - (b > base ? 1 : 0));
  const bool has_sentinel = rows.begin <= primary_ && primary_ < rows.begin + rows.size;
  Rows extended;
  extended.begin = first.next_row[base] + symbol.n_equal(first, before);
  extended.other_begin = rows.other_begin + (has_sentinel ? 1 : 0) + larger;
  extended.size = last.next_row[base] + symbol.n_equal(last, up_to) - extended.begin;
  return extended;
}

inline std::uint64_t BwaFm::row_before(std::uint64_t row) const {
  const std::uint64_t at = stored(row);
  const BwaBlock& block = blocks_[at / kBwaBlockSymbols];
  const BwaBase base(block, at % kBwaBlockSymbols);
  return base.first_row(block) + base.n_equal(block, BwaPrefix(at % kBwaBlockSymbols));
}

inline BwaFm::Step BwaFm::rows_before(std::uint64_t row, std::uint64_t n_rows) const {
  const std::uint64_t at = stored(row);
  const BwaBlock& block = blocks_[at / kBwaBlockSymbols];
  const unsigned i = at % kBwaBlockSymbols;
  if (row < primary_) n_rows = std::min(n_rows, primary_ - row);
  return {row_before(row), std::min<std::uint64_t>(n_rows, BwaBase(block, i).run_length(block, i))};
}

}  // namespace biogpu::bwt
