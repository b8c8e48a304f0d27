#pragma once

#include <memory>

#include "lib/io/input/block_queue.hpp"
#include "lib/io/input/byte_source.hpp"

namespace biogpu::io::input {

// The text of a producer's blocks, in order; n_workers as for BlockQueue.
class BlockSource : public ByteSource {
 public:
  BlockSource(std::unique_ptr<BlockProducer> producer, int n_workers);

  std::size_t read(char* to, std::size_t n) override;

 private:
  BlockQueue queue_;
  const Block* block_ = nullptr;
  std::size_t position_ = 0;  // in the block's text
};

}  // namespace biogpu::io::input
