#pragma once

#include <cstdint>
#include <string_view>

namespace biogpu::app {

// What the letters of sequences say of their kind.
struct LetterCounts {
  std::uint64_t all = 0;
  std::uint64_t bases = 0;        // A, C, G, T, U and N
  std::uint64_t of_proteins = 0;  // no IUPAC code of a nucleotide

  void add(std::string_view sequence);
  bool mostly_bases() const { return bases * 10 >= all * 9; }
  // A protein has so many bases nowhere.
  bool look_like_dna() const { return all >= 20 && mostly_bases(); }
};

}  // namespace biogpu::app
