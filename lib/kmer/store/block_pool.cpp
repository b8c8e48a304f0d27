#include "lib/kmer/store/block_pool.hpp"

#include <sys/mman.h>

#include <new>

namespace biogpu::kmer {

Block* BlockPool::take() {
  const std::lock_guard lock(mutex_);
  ++n_taken_;
  if (free_ != nullptr) {
    Block* block = free_;
    free_ = block->next;
    return new (block) Block;
  }
  if (n_left_in_slab_ == 0) {
    slabs_.reserve(slabs_.size() + 1);
    slabs_.push_back(allocate_aligned(kSlabBytes, kSlabBytes));
    // Thousands of bins are written at a time.
    madvise(slabs_.back().get(), kSlabBytes, MADV_HUGEPAGE);
    n_left_in_slab_ = kSlabBytes / Block::kBytes;
  }
  return new (static_cast<char*>(slabs_.back().get()) + --n_left_in_slab_ * Block::kBytes) Block;
}

void BlockPool::give_back(Block* list) {
  if (list == nullptr) return;
  std::uint64_t n = 1;
  Block* last = list;
  for (; last->next != nullptr; last = last->next) ++n;
  const std::lock_guard lock(mutex_);
  last->next = free_;
  free_ = list;
  n_taken_ -= n;
}

std::uint64_t BlockPool::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return n_taken_ * Block::kBytes;
}

}  // namespace biogpu::kmer
