#include "lib/io/input/block_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace biogpu::io::input {

BlockSource::BlockSource(std::unique_ptr<BlockProducer> producer, int n_workers)
    : queue_(std::move(producer), n_workers, static_cast<std::size_t>(2 * n_workers + 2)) {}

std::size_t BlockSource::read(char* to, std::size_t n) {
  std::size_t done = 0;
  while (done < n) {
    if (block_ == nullptr || position_ == block_->text.size()) {
      position_ = 0;
      block_ = queue_.next();
      if (block_ == nullptr) break;
    }
    const CharBuffer& text = block_->text;
    const std::size_t part = std::min(n - done, text.size() - position_);
    if (part > 0) std::memcpy(to + done, text.data() + position_, part);
    position_ += part;
    done += part;
  }
  return done;
}

}  // namespace biogpu::io::input
