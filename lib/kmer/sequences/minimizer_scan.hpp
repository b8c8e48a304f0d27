#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::kmer {

// A block of letters and what a scan finds in it. Reads lie one after another, separated by a
// byte that is no base.
struct ScanBlock {
  static constexpr std::size_t kBases = 4096;
  static constexpr std::size_t kPad = 128;  // vectors run past the end

  std::size_t n = 0;  // letters in text
  alignas(64) char text[kBases + kPad];
  // Bit i % 64 of word i / 64: letter i is none of ACGTacgt; also set from n to the word's end.
  alignas(64) std::uint64_t invalid[kBases / 64 + 4];
  // 16 bases from i, the first in the highest pair. Invalid letters and the end are arbitrary.
  alignas(64) std::uint32_t bases16[kBases + kPad];
  // The bin of the window of k bases from i: see ScanOptions.
  alignas(64) std::uint32_t bin[kBases + kPad];
  // Bit i % 64 of word i / 64: bin[i + 1] differs from bin[i].
  alignas(64) std::uint64_t ends[kBases / 64 + 4];
  // Working space.
  alignas(64) std::uint8_t codes[kBases + kPad];
  alignas(64) std::uint16_t forward8[kBases + kPad];
  alignas(64) std::uint16_t reverse8[kBases + kPad];
};

// The bin of a window is taken from the smallest hash of its canonical m-mers (a random minimizer:
// M. Roberts et al., doi:10.1093/bioinformatics/bth408), so that a k-mer and its reverse
// complement fall into one bin, and neighbours mostly do. m <= 16, m <= k; n_bins: power of two.
struct ScanOptions {
  int k = 0;
  int m = 0;
  std::uint32_t n_bins = 1;
};

// Fills all of the block but text and n. The order of the passes is in scan.cpp.
void scan_block(ScanBlock& block, const ScanOptions& options);

// Letters as two bits a base, 16 a word, the first in the highest pair, and as bits that mark what
// is none of ACGTacgt, 32 a word, the first lowest. n: a multiple of 64.
void pack_letters(const char* letters, std::size_t n, std::uint32_t* bases, std::uint32_t* invalid);

// Replaces letters whose quality symbol is below `min_symbol` by N.
void mask_low_quality(char* letters, const char* quality, std::size_t n, char min_symbol);

}  // namespace biogpu::kmer
