#pragma once

#include <cstdint>
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

  // Texts with their counts, in no order to rely on; views into this object.
  std::vector<std::pair<std::string_view, std::uint64_t>> list() const;

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
};

}  // namespace biogpu::qc
