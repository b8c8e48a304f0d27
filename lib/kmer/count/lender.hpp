#pragma once

#include <deque>
#include <mutex>
#include <vector>

namespace biogpu::kmer {

// Objects that threads borrow, each one thread at a time, made when none is free.
template <class T>
class Lender {
 public:
  template <class Make, class Use>
  void with(Make&& make, Use&& use) {
    T* object = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) {
        object = &all_.emplace_back(make());
        free_.reserve(all_.size());
      } else {
        object = free_.back();
        free_.pop_back();
      }
    }
    use(*object);
    const std::lock_guard lock(mutex_);
    free_.push_back(object);
  }
  std::deque<T>& all() { return all_; }

 private:
  std::mutex mutex_;
  std::deque<T> all_;
  std::vector<T*> free_;
};

}  // namespace biogpu::kmer
