#include "lib/core/complement.hpp"

#include <string_view>

#include "tests/support/catch.hpp"

using biogpu::complement_acgt;
using biogpu::complement_iupac;
using biogpu::reverse_complement_iupac;

TEST_CASE("core.complement: a code's complement stands for the complements of its bases",
          "[core]") {
  // Bits A 1, C 2, G 4, T 8; the complement of a set swaps A with T and C with G.
  constexpr std::string_view kCodes = "-ACMGRSVTWYHKDBN";
  for (unsigned set = 1; set < 16; ++set) {
    const unsigned other = (set & 1) << 3 | (set & 2) << 1 | (set & 4) >> 1 | (set & 8) >> 3;
    CHECK(complement_iupac(kCodes[set]) == kCodes[other]);
    CHECK(complement_iupac(static_cast<char>(kCodes[set] | 0x20)) ==
          static_cast<char>(kCodes[other] | 0x20));
  }
  CHECK(complement_iupac('U') == 'A');
  CHECK(complement_iupac('u') == 'a');
  for (const char other : std::string_view("=-*. \n\xff", 7))
    CHECK(complement_iupac(other) == other);
  CHECK(reverse_complement_iupac("ACGTURYKMSWBVDHNx-acgtu") == "aacgt-xNDHBVWSKMRYAACGT");
  CHECK(reverse_complement_iupac("").empty());
}

TEST_CASE("core.complement: where only A, C, G and T count, the others become N", "[core]") {
  for (const std::string_view pair :
       {"AT", "TA", "CG", "GC", "aT", "tA", "cG", "gC", "NN", "nN", "RN", "UN", "-N"})
    CHECK(complement_acgt(pair[0]) == pair[1]);
}
