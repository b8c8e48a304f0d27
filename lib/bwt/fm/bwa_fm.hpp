#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bwt/fm/bwa_files.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::bwt {

// An index made by `bwa index` or with --format bwa, for searches in both directions: the text
// holds both strands, so the rows of a string and of its reverse complement are as many.
//
// Source  Li: Exploring single-sample SNP and INDEL calling with whole-genome de novo assembly.
//         doi:10.1093/bioinformatics/bts280, sections 2.2 to 2.4
class BwaFm {
 public:
  // Reads PREFIX.ann and maps PREFIX.bwt and PREFIX.sa. Throws Error{bad_input} for damaged files:
  // their counts must be those of their bases, so that no step leaves the rows, and the sizes of
  // all five files those of one index.
  BwaFm(const std::string& prefix, int n_threads);

  using Counts = std::array<std::uint64_t, 4>;

  // Rows of the strings that begin with a match, and of those with its reverse complement.
  struct Rows {
    std::uint64_t begin = 0;
    std::uint64_t other_begin = 0;
    std::uint64_t size = 0;
  };
  Rows rows_of(unsigned base) const {
    return {first_row(base), first_row(3 - base), first_row(base + 1) - first_row(base)};
  }
  // The rows of the match with each base before it.
  std::array<Rows, 4> extend_left(const Rows& rows) const;

  // Position in the text of both strands of the suffix in this row. Throws Error{bad_input} where
  // the files lead nowhere.
  std::uint64_t position(std::uint64_t row) const;

  struct Place {
    std::string_view contig;
    std::int64_t begin = 0;  // in the contig; below 0 where the match began before it
    bool reverse = false;
  };
  // Where a match of `length` bases at this position of the text lies, as `bwa fastmap` tells it.
  Place place(std::uint64_t position, std::uint64_t length) const;

 private:
  std::uint64_t first_row(unsigned base) const {
    return 1 + (base == 0 ? 0 : cumulative_[base - 1]);
  }
  // A block's counts and those of its first n bases.
  static Counts counts_in(const std::uint32_t* block, std::uint64_t n);
  Counts counts_before(std::uint64_t row) const;
  bool counts_are_sound(int n_threads) const;

  std::string path_;
  io::MappedFile bwt_;
  io::MappedFile sa_;
  std::uint64_t primary_ = 0;
  Counts cumulative_{};
  std::uint64_t n_ = 0;  // bases of both strands
  std::uint64_t sample_rate_ = 32;
  const std::uint32_t* blocks_ = nullptr;
  const std::uint64_t* samples_ = nullptr;  // of rows sample_rate_, 2 * sample_rate_, ...
  std::vector<BwaContig> contigs_;
};

}  // namespace biogpu::bwt
