#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/char_buffer.hpp"

namespace biogpu::qc {

// How often each of many texts was met. Texts lie in one buffer and their places in one table, so
// that a look-up touches two lines of cache.
class TextCounts {
 public:
  void add(std::string_view text, std::uint64_t n);
  // The same with fastp 1's bounds on its memory: behind 20,001 texts no new one is counted, behind
  // 5,001 none of low complexity.
  void add_bounded(std::string_view text, std::uint64_t n);

  // Texts with their counts, in the order in which they were first added; views into this object.
  std::vector<std::pair<std::string_view, std::uint64_t>> list() const;

  std::uint64_t total() const { return total_; }                // texts added
  std::uint64_t total_length() const { return total_length_; }  // of those
  std::uint64_t count_of(std::string_view text) const;
  // The texts that are at least this share of all.
  std::vector<std::string_view> frequent(double share) const;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t begin = 0;  // in texts_
    std::uint64_t count = 0;  // 0: a free slot
    std::uint64_t length = 0;
  };

  std::string_view text(const Slot& slot) const {
    return texts_.view().substr(slot.begin, slot.length);
  }
  std::size_t find(std::uint64_t hash, std::string_view text) const;
  void grow();

  io::CharBuffer texts_;
  std::vector<Slot> slots_;  // a power of two
  std::size_t n_used_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t total_length_ = 0;
};

// Of all that was cut off as an adapter, what the reports name one from.
inline constexpr double kShareReported = 0.01;

// The texts that are a good share of all that several counters met, and the sum of the others.
struct CommonTexts {
  std::vector<std::pair<std::string, std::uint64_t>> texts;  // by length, then alphabet
  std::uint64_t n_others = 0;
  std::uint64_t total = 0;
  std::uint64_t total_length = 0;
};

// Without putting the counters together: what is frequent in all is so in one of them.
CommonTexts common_texts(const std::vector<const TextCounts*>& parts, double share);

// Profile fastp-1: what its workers count in one part of a run after the other. parts: for each
// part, the texts of each worker.
CommonTexts bounded_texts(const std::vector<const std::vector<TextCounts>*>& parts);

}  // namespace biogpu::qc
