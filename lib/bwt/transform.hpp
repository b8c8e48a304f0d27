#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/core/big_array.hpp"

namespace biogpu::bwt {

inline constexpr char kSentinel = '$';

// The Burrows-Wheeler transform of a row of strings P0 $0 P1 $1 ... with $0 < $1 < ... smaller than
// every letter, each sentinel shown as '$' (the convention of ropebwt2 and BCR in input order). One
// string gives the usual transform with one '$'. Letters compare by their bytes.
//
// Source  Burrows, Wheeler: A block-sorting lossless data compression algorithm, SRC report 124;
//         Cenzato, Liptak: A survey of BWT variants for string collections.
//         doi:10.1093/bioinformatics/btae333
struct StringSetText {
  std::string letters;              // the strings, each followed by '$'
  std::vector<std::uint64_t> ends;  // of the '$', ascending

  // letter: any byte above '$'.
  void append(std::string_view string) {
    letters += string;
    ends.push_back(letters.size());
    letters += kSentinel;
  }
};

// The positions of all suffixes of any bytes in ascending order. Throws Error{bad_input} where
// there are 2^32 - 1 or more.
BigArray<std::uint32_t> suffix_array_of(std::string_view bytes, int n_threads);

// Throws Error{bad_input} where a string holds '$' or a smaller byte.
std::string transform_set(const StringSetText& text, const SuffixSortSettings& sort,
                          SuffixSortReport* report = nullptr);
// The strings of a transform, in their order. Throws Error{bad_input} where it is none.
StringSetText inverse_set(std::string_view bwt, int n_threads);

// The transform of any bytes, its sentinel left out: primary is its row.
struct ByteBwt {
  std::uint64_t primary = 0;
  std::string bytes;
};
ByteBwt transform_bytes(std::string_view bytes, const SuffixSortSettings& sort,
                        SuffixSortReport* report = nullptr);
std::string inverse_bytes(const ByteBwt& bwt);

}  // namespace biogpu::bwt
