#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/bwt/text/packed_text.hpp"
#include "lib/bwt/text/reference.hpp"
#include "lib/core/big_array.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::bwt {

// The rows that `bwa index` stores the position of.
inline constexpr std::uint64_t kBwaSampleRate = 32;

// The body of a .bwt file: the transform of a text of both strands with the row of its sentinel
// left out, in blocks of 128 symbols behind the counts of what is before them.
struct BwaBwt {
  std::uint64_t primary = 0;         // the row of the whole text
  std::uint64_t cumulative[4] = {};  // bases up to A, C, G and T
  BigArray<std::uint32_t> blocks;    // see docs/formats/bwa_index.md
  BigArray<std::uint64_t> samples;   // positions of rows 32, 64, ...
};

// text: both strands. sa: its suffix array.
template <class Index>
BwaBwt make_bwa_bwt(const PackedText& text, const BigArray<Index>& sa, int n_threads);

// Writes PREFIX.amb, .ann, .pac, .bwt and .sa, byte for byte those of `bwa index` 0.7.17: five
// whole files, which have their names after commit().
[[nodiscard]] std::vector<io::OutputFile> write_bwa_index(const std::string& prefix,
                                                          const Reference& reference,
                                                          const BwaBwt& bwt, int n_threads = 1);

}  // namespace biogpu::bwt
