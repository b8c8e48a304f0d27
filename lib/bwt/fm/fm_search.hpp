#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lib/bwt/fm/fm_index.hpp"

namespace biogpu::bwt {

// Patterns in 2 bits a letter, each beginning with a word of its own, and with it the reverse
// complement of each: pattern 2i is the query as read, 2i + 1 its other strand. Letters other than
// A, C, G, T, either case, match nothing.
class PatternSet {
 public:
  struct Pattern {
    std::uint64_t word = 0;  // the first of its words; as many words of `odd` follow at odd_word
    std::uint32_t length = 0;
    bool plain = true;  // A, C, G, T alone
  };

  void clear();
  void append(std::string_view letters);

  std::size_t size() const { return patterns_.size(); }
  const Pattern& operator[](std::size_t i) const { return patterns_[i]; }
  // 32 letters of pattern p from letter i on, zeros behind its end.
  std::uint64_t word_at(const Pattern& p, std::uint64_t i) const { return shifted(p.word, i); }
  // The same with 01 for each letter that matches nothing.
  std::uint64_t odd_at(const Pattern& p, std::uint64_t i) const {
    return p.plain ? 0 : shifted(p.word + n_words(p.length), i);
  }
  unsigned letter(const Pattern& p, std::uint64_t i) const {
    return static_cast<unsigned>(words_[p.word + i / 32] >> (62 - 2 * (i % 32)) & 3);
  }
  // Whether letters [begin, begin + length) are A, C, G and T alone.
  bool is_plain(const Pattern& p, std::uint64_t begin, std::uint64_t length) const {
    if (p.plain) return true;
    for (std::uint64_t i = 0; i < length; i += 32) {
      const std::uint64_t n = length - i < 32 ? length - i : 32;
      if (odd_at(p, begin + i) >> (64 - 2 * n) != 0) return false;
    }
    return true;
  }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  static std::uint64_t n_words(std::uint64_t length) { return (length + 31) / 32 + 1; }
  std::uint64_t shifted(std::uint64_t first, std::uint64_t i) const {
    const std::uint64_t* const word = words_.data() + first + (i >> 5);
    const unsigned shift = 2 * (i & 31);
    return word[0] << shift | word[1] >> 1 >> (63 - shift);
  }

  std::vector<std::uint64_t> words_;
  std::vector<Pattern> patterns_;
};

// A part of a pattern to be found: letters [begin, begin + length).
struct Probe {
  std::uint32_t pattern = 0;
  std::uint32_t begin = 0;
  std::uint32_t length = 0;
};

// An occurrence: text[position, position + length) is the probe.
struct ProbeHit {
  std::uint32_t probe = 0;
  std::uint64_t position = 0;
};

// Exact searches of an index on one backend; any number of threads may call. Probes of length 0,
// and those with a letter that matches nothing, occur nowhere.
class ExactSearch {
 public:
  virtual ~ExactSearch() = default;
  // counts[i] = occurrences of probe i.
  virtual void count(const PatternSet& patterns, std::span<const Probe> probes,
                     std::span<std::uint64_t> counts) = 0;
  // Appends all occurrences, in no order that means anything.
  virtual void locate(const PatternSet& patterns, std::span<const Probe> probes,
                      std::vector<ProbeHit>& hits) = 0;
};

// On the calling thread, the probes of a call side by side, so that waiting for memory overlaps.
class CpuSearch final : public ExactSearch {
 public:
  explicit CpuSearch(const FmIndex& index) : index_(index) {}
  void count(const PatternSet& patterns, std::span<const Probe> probes,
             std::span<std::uint64_t> counts) override;
  void locate(const PatternSet& patterns, std::span<const Probe> probes,
              std::vector<ProbeHit>& hits) override;

 private:
  const FmIndex& index_;
};

// One place where a pattern matches with at most k letters different.
struct Hit {
  std::uint32_t pattern = 0;
  std::uint32_t n_mismatches = 0;
  std::uint64_t contig = 0;
  std::uint64_t begin = 0;  // in the contig
};
// Appends all places of patterns [first, last), by pattern, then contig, then begin. Every letter
// of a place lies in one run of A, C, G and T of its contig. Lossless: a place with at most k
// mismatches has one of k + 1 pieces of the pattern unchanged.
void locate_patterns(const FmIndex& index, ExactSearch& search, const PatternSet& patterns,
                     std::size_t first, std::size_t last, std::uint32_t k, std::vector<Hit>& hits);

}  // namespace biogpu::bwt
