#include "lib/io/input/block_queue.hpp"

#include <algorithm>
#include <utility>

namespace biogpu::io::input {

BlockQueue::BlockQueue(std::unique_ptr<BlockProducer> producer, int n_workers, std::size_t n_slots)
    : producer_(std::move(producer)), slots_(n_workers > 0 ? n_slots : 1) {
  workers_.reserve(static_cast<std::size_t>(std::max(n_workers, 0)));
  try {
    for (int i = 0; i < n_workers; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // No thread or no memory for one more: those that run, or the caller alone, do the work.
  }
}

BlockQueue::~BlockQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  slot_freed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void BlockQueue::release() {
  if (!have_block_) return;
  have_block_ = false;
  const std::lock_guard lock(mutex_);
  slots_[n_consumed_ % slots_.size()].ready = false;
  ++n_consumed_;
  slot_freed_.notify_one();
}

// Waits for, or makes, the block after the last one consumed.
Block* BlockQueue::next() {
  release();
  if (at_end_) return nullptr;
  if (workers_.empty()) {
    std::size_t turn = 0;
    if (take_turn(turn)) finish_turn(turn);
  }
  Slot& slot = slots_[n_consumed_ % slots_.size()];
  {
    std::unique_lock lock(mutex_);
    slot_ready_.wait(lock, [&] { return slot.ready; });
  }
  at_end_ = slot.last || slot.error;
  if (slot.error) std::rethrow_exception(slot.error);
  have_block_ = !slot.last;
  return have_block_ ? &slot.block : nullptr;
}

void BlockQueue::work() {
  std::size_t turn = 0;
  while (take_turn(turn)) finish_turn(turn);
}

// Takes the next block of the stream into its slot. False when there is none or the queue is being
// destroyed.
bool BlockQueue::take_turn(std::size_t& turn) {
  const std::lock_guard turn_lock(take_mutex_);
  {
    std::unique_lock lock(mutex_);
    slot_freed_.wait(
        lock, [&] { return stopping_ || no_more_ || n_taken_ < n_consumed_ + slots_.size(); });
    if (stopping_ || no_more_) return false;
    turn = n_taken_++;
  }
  Slot& slot = slots_[turn % slots_.size()];
  slot.block.packed.clear();
  slot.block.text.clear();
  bool more = false;
  try {
    more = producer_->take(slot.block);
    slot.last = !more;
  } catch (...) {
    slot.error = std::current_exception();
  }
  if (more) return true;
  const std::lock_guard lock(mutex_);
  no_more_ = true;
  slot.ready = true;
  slot_ready_.notify_one();
  slot_freed_.notify_all();  // other workers may wait for a slot that will not be needed
  return false;
}

void BlockQueue::finish_turn(std::size_t turn) {
  Slot& slot = slots_[turn % slots_.size()];
  try {
    producer_->finish(slot.block);
  } catch (...) {
    slot.error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  slot.ready = true;
  slot_ready_.notify_one();
}

}  // namespace biogpu::io::input
