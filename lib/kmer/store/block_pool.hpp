#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lib/core/aligned_buffer.hpp"

namespace biogpu::kmer {

// Records of one bin, as written by one thread. The padding behind the last record lets
// readers load whole vectors.
struct Block {
  static constexpr std::size_t kBytes = 8192;
  static constexpr std::size_t kSlack = 64;
  static constexpr std::size_t kRoom = kBytes - 16 - kSlack;

  Block* next = nullptr;
  std::uint32_t used = 0;
  std::uint32_t n_records = 0;
  char data[kRoom + kSlack];
};
static_assert(sizeof(Block) == Block::kBytes);

// Blocks cut from large pages, given back to be used again; memory returns to the system when the
// pool ends. Any thread. Throws std::bad_alloc.
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  Block* take();
  void give_back(Block* list);  // a chain of blocks

  std::uint64_t bytes_in_use() const;

 private:
  static constexpr std::size_t kSlabBytes = 2u << 20;

  mutable std::mutex mutex_;
  std::vector<MallocPtr<void>> slabs_;
  std::size_t n_left_in_slab_ = 0;
  Block* free_ = nullptr;
  std::uint64_t n_taken_ = 0;
};

}  // namespace biogpu::kmer
