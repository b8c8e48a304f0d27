#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/sequence_batch.hpp"

namespace biogpu::app {

// Records of one file that follow each other, wherever their blocks end. Blocks are shared by the
// spans cut from them.
class RecordSpan {
 public:
  using Block = std::shared_ptr<const io::SequenceBatch>;

  RecordSpan() = default;
  explicit RecordSpan(const Block& block) { add(block, 0, block->size()); }

  void clear() { parts_.clear(); }
  // Adds records begin, ..., begin + n - 1 of a block, those that follow.
  void add(const Block& block, std::size_t begin, std::size_t n) {
    if (n > 0) parts_.push_back({block, begin, size(), size() + n});
  }

  std::size_t size() const { return parts_.empty() ? 0 : parts_.back().end; }
  std::string_view name(std::size_t i) const { return get(i, &io::SequenceBatch::name); }
  std::string_view sequence(std::size_t i) const { return get(i, &io::SequenceBatch::sequence); }
  std::string_view quality(std::size_t i) const { return get(i, &io::SequenceBatch::quality); }
  // Records before it in the file.
  std::uint64_t index(std::size_t i) const {
    const Part& part = part_of(i);
    return part.block->first_record() - 1 + part.block_begin + (i - part.begin);
  }
  // visit(sequence) for each, in order.
  template <class Visit>
  void for_sequences(Visit&& visit) const {
    for (const Part& part : parts_)
      for (std::size_t i = part.begin; i < part.end; ++i)
        visit(part.block->sequence(part.block_begin + (i - part.begin)));
  }

 private:
  struct Part {
    Block block;
    std::size_t block_begin;  // its first record in the block
    std::size_t begin;        // in the span
    std::size_t end;
  };

  const Part& part_of(std::size_t i) const {
    std::size_t low = 0;
    for (std::size_t n = parts_.size(); n > 1;) {
      const std::size_t half = n / 2;
      if (parts_[low + half].begin <= i) low += half;
      n -= half;
    }
    return parts_[low];
  }
  std::string_view get(std::size_t i,
                       std::string_view (io::SequenceBatch::*field)(std::size_t) const) const {
    const Part& part = part_of(i);
    return ((*part.block).*field)(part.block_begin + (i - part.begin));
  }

  std::vector<Part> parts_;
};

}  // namespace biogpu::app
