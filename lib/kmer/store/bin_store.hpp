#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "lib/kmer/store/block_pool.hpp"
#include "lib/kmer/store/spill_file.hpp"

namespace biogpu::kmer {

// Records of bytes in n_bins bags, written by many threads and read back a bin at a time in no
// particular order. Blocks lie in memory until the pool holds more than max_bytes; then all full
// ones go to the spill file, the blocks of a bin next to each other.
class BinStore {
 public:
  BinStore(std::size_t n_bins, BlockPool& pool, SpillFile& spill, std::uint64_t max_bytes)
      : bins_(n_bins), pool_(pool), spill_(spill), max_bytes_(max_bytes) {}
  ~BinStore();
  BinStore(const BinStore&) = delete;
  BinStore& operator=(const BinStore&) = delete;

  // The open blocks of one thread.
  class Writer {
   public:
    explicit Writer(BinStore& store) : store_(&store), open_(store.bins_.size()) {}
    ~Writer();
    Writer(Writer&& other) noexcept : store_(other.store_), open_(std::move(other.open_)) {
      other.open_.clear();
    }
    Writer& operator=(Writer&&) = delete;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Room for one record of up to n_bytes <= Block::kRoom, ended by advance().
    char* reserve(std::size_t bin, std::size_t n_bytes) {
      Open& open = open_[bin];
      if (open.block == nullptr || open.used + n_bytes > Block::kRoom) renew(bin);
      return open.block->data + open.used;
    }
    void advance(std::size_t bin, std::size_t n_bytes, std::uint32_t n_records = 1) {
      open_[bin].used += static_cast<std::uint32_t>(n_bytes);
      open_[bin].n_records += n_records;
    }
    // Hands the open blocks to the store. Called before the bins are read.
    void finish();

   private:
    // A block's numbers lie here while it is written: one line of memory less to touch a record.
    struct Open {
      Block* block = nullptr;
      std::uint32_t used = 0;
      std::uint32_t n_records = 0;
    };

    void close(std::size_t bin);
    void renew(std::size_t bin);

    BinStore* store_;
    std::vector<Open> open_;
  };

  std::size_t n_bins() const { return bins_.size(); }
  std::uint64_t n_records(std::size_t bin) const { return bins_[bin].n_records; }
  std::uint64_t n_bytes(std::size_t bin) const { return bins_[bin].n_bytes; }
  std::uint64_t total_bytes() const;

  // visit(span of whole records) for each block of the bin. Each bin by one thread at a time.
  template <class Visit>
  void read(std::size_t bin, Visit&& visit) const {
    for (const Block* block = bins_[bin].blocks; block != nullptr; block = block->next)
      visit(std::span<const char>(block->data, block->used));
    std::vector<Block> blocks;
    for (const Extent& extent : bins_[bin].extents)
      for (std::size_t done = 0; done < extent.n_blocks; done += blocks.size()) {
        blocks.resize(std::min<std::size_t>(kBlocksPerRead, extent.n_blocks - done));
        spill_.read(extent.offset + done * Block::kBytes, blocks.data(),
                    blocks.size() * Block::kBytes);
        for (const Block& block : blocks) visit(std::span<const char>(block.data, block.used));
      }
  }
  // Gives the memory of a bin back.
  void drop(std::size_t bin);

 private:
  static constexpr std::size_t kBlocksPerRead = 16;  // blocks read at a time

  struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t n_blocks = 0;
  };
  struct Bin {
    Block* blocks = nullptr;
    std::vector<Extent> extents;
    std::uint64_t n_records = 0;  // in closed blocks
    std::uint64_t n_bytes = 0;
  };

  void close(std::size_t bin, Block* block);
  void spill_all();

  std::mutex mutex_;
  std::vector<Bin> bins_;
  BlockPool& pool_;
  SpillFile& spill_;
  const std::uint64_t max_bytes_;
};

}  // namespace biogpu::kmer
