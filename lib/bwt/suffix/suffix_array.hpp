#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/bwt/text/packed_text.hpp"
#include "lib/core/big_array.hpp"

namespace biogpu::bwt {

// What is sorted. Without ends, the suffixes of one text, its end smaller than every symbol. With
// ends, the text is a row of strings, each closed by a symbol 0 that occurs nowhere else; ends are
// the positions of these symbols, ascending, and the last is that of the last symbol. A comparison
// stops at the end of a string, and of two equal suffixes the one of the earlier string comes
// first.
struct SuffixSource {
  const PackedText& text;
  std::span<const std::uint64_t> ends = {};

  // What a comparison sees from symbol i on.
  std::uint64_t word_at(std::uint64_t i) const {
    return ends.empty() ? text.word_at(i) : text.word_to_zero(i);
  }
};

// A stretch [begin, begin + size) of the suffix array whose suffixes share their first `depth`
// symbols.
struct SuffixGroup {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t depth = 0;
};

enum class SuffixMethod {
  automatic,  // chosen by the text and the number of threads
  direct,     // all suffixes by radix and comparison; by induction where too many tie
  ranks,      // the same, but all that is left by ranks, however much it is
  lms,        // the LMS suffixes by radix, comparison and each other, then carried induction
  induced,    // the LMS suffixes by recursive induction, then carried induction
};

// All but n_threads and gpu are switches for tests, which reach with small texts what large or rare
// ones need.
struct SuffixSortSettings {
  int n_threads = 1;
  SuffixMethod method = SuffixMethod::automatic;
  std::uint64_t direct_symbols = 0;  // compared before ranks or LMS suffixes are; 0: chosen
  std::uint64_t max_lms_moves = 0;   // before `lms` gives way to `induced`; 0: chosen
  int gpu = -1;                      // the device that sorts where it can; -1: the CPU
  std::uint64_t gpu_rows = 0;        // it sorts at a time; 0: what its memory holds
  std::uint64_t gpu_bytes = 0;       // of its memory that may be used; 0: what is free
};

// How a text was sorted, for the log.
struct SuffixSortReport {
  std::uint64_t n_unresolved = 0;  // suffixes left after the direct comparison
  int n_rank_rounds = 0;
  SuffixMethod method = SuffixMethod::direct;  // that came to the result
  bool on_gpu = false;
  std::string why_cpu;         // where a GPU was to sort and could not
  std::uint64_t n_blocks = 0;  // that a GPU sorted one after the other
  double gpu_s = 0;            // without the copy of the positions
  double gpu_copy_s = 0;
  std::uint64_t device_bytes = 0;
};

// Positions of all suffixes in ascending order. Index is std::uint32_t for texts below 2^32 - 1
// symbols, else std::uint64_t.
//
// Most texts: the LMS suffixes, a third of all, are sorted by radix, by comparison of words and by
// the order of the LMS suffixes that follow them; then all others by induction in two scans (Nong,
// Zhang and Chan, doi:10.1109/TC.2010.188). Texts of few kinds of LMS substrings sort these by
// recursive induction. With many threads, all suffixes of a text that does not repeat itself are
// sorted by radix and comparison; equal ones that are left are sorted by the ranks of what follows
// them, doubling the distance (Larsson and Sadakane, doi:10.1016/j.tcs.2007.07.017).
//
// Memory: 8 bytes for each symbol in addition to the text and the result; where a GPU sorts, that
// of one index for each symbol, and only where it leaves ties.
template <class Index>
BigArray<Index> sort_suffixes(const SuffixSource& source, const SuffixSortSettings& settings,
                              SuffixSortReport* report = nullptr);

// The plain way: a comparison sort, symbol by symbol.
template <class Index>
BigArray<Index> sort_suffixes_ref(const SuffixSource& source);

}  // namespace biogpu::bwt
