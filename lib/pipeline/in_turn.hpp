#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace biogpu::pipeline {

// Gives items what depends on all items before them, such as their place in a file, while workers
// finish them in any order. No worker waits for another.
class InTurn {
 public:
  // When item number `turn` is made, each once, counted from 0: calls place() for it once the
  // places of all before it were called, and for those behind it that waited for this one. In
  // order, one at a time, perhaps by another item's thread. Returns whether this item's was called
  // by now.
  bool ready(std::uint64_t turn, std::function<void()> place) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(turn, std::move(place));
    for (auto next = waiting_.begin(); next != waiting_.end() && next->first == n_placed_;
         next = waiting_.erase(next), ++n_placed_)
      next->second();
    return turn < n_placed_;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> waiting_;
  std::uint64_t n_placed_ = 0;
};

}  // namespace biogpu::pipeline
