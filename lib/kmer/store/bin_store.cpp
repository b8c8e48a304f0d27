#include "lib/kmer/store/bin_store.hpp"

#include <utility>

namespace biogpu::kmer {

BinStore::~BinStore() {
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) drop(bin);
}

BinStore::Writer::~Writer() {
  for (const Open& open : open_) store_->pool_.give_back(open.block);
}

void BinStore::Writer::close(std::size_t bin) {
  Open& open = open_[bin];
  if (open.block == nullptr) return;
  open.block->used = open.used;
  open.block->n_records = open.n_records;
  Block* const block = std::exchange(open, Open()).block;
  store_->close(bin, block);
}

void BinStore::Writer::renew(std::size_t bin) {
  close(bin);
  open_[bin].block = store_->pool_.take();
}

void BinStore::Writer::finish() {
  for (std::size_t bin = 0; bin < open_.size(); ++bin) close(bin);
}

void BinStore::close(std::size_t bin, Block* block) {
  const std::lock_guard lock(mutex_);
  Bin& of = bins_[bin];
  block->next = of.blocks;
  of.blocks = block;
  of.n_records += block->n_records;
  of.n_bytes += block->used;
  if (pool_.bytes_in_use() > max_bytes_) spill_all();
}

void BinStore::spill_all() {
  for (Bin& bin : bins_) {
    if (bin.blocks == nullptr) continue;
    Extent extent{spill_.bytes(), 0};
    for (const Block* block = bin.blocks; block != nullptr; block = block->next) {
      spill_.append(block, Block::kBytes);
      ++extent.n_blocks;
    }
    bin.extents.push_back(extent);
    pool_.give_back(bin.blocks);
    bin.blocks = nullptr;
  }
}

std::uint64_t BinStore::total_bytes() const {
  std::uint64_t sum = 0;
  for (const Bin& bin : bins_) sum += bin.n_bytes;
  return sum;
}

void BinStore::drop(std::size_t bin) {
  pool_.give_back(bins_[bin].blocks);
  bins_[bin].blocks = nullptr;
  bins_[bin].extents.clear();
}

}  // namespace biogpu::kmer
