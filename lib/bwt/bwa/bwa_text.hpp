#pragma once

#include <cstdint>
#include <string>

#include "lib/bwt/text/packed_text.hpp"

namespace biogpu::bwt {

// The bases of both strands of an index of bwa, from its .pac file, which holds one of them.
class BwaText {
 public:
  BwaText() = default;
  // Reads the file where it is there. Throws Error{bad_input} where it is of another length.
  BwaText(const std::string& path, std::uint64_t n_bases, int n_threads);

  bool is_there() const { return strand_.size() != 0; }
  std::uint64_t size() const { return 2 * strand_.size(); }

  // 32 bases from position i <= size() on, the first in the highest bits, zeros behind the text.
  std::uint64_t word_at(std::uint64_t i) const;
  // The 32 bases before position i, the last in the lowest bits, zeros before the text.
  std::uint64_t word_before(std::uint64_t i) const {
    if (i >= 32) return word_at(i - 32);
    return i == 0 ? 0 : word_at(0) >> (64 - 2 * i);
  }
  [[gnu::always_inline]] void prefetch(std::uint64_t i) const {
    strand_.prefetch(i < strand_.size() ? i : size() - 1 - i);
  }

 private:
  PackedText strand_;
};

}  // namespace biogpu::bwt
