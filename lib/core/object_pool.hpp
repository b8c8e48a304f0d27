#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace biogpu {

// Objects that threads use in turns, each by one thread at a time; made when none is free, and kept
// where they are. One that acquire() gave and whose use threw is not released: it is not given out
// again.
template <class T>
class ObjectPool {
 public:
  // An object that is free now, or a new T(args...).
  template <class... Args>
  T& acquire(Args&&... args) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);  // so that release() needs no memory
      return all_.emplace_back(std::forward<Args>(args)...);
    }
    T& object = *free_.back();
    free_.pop_back();
    return object;
  }
  // Waits for a free object among those added. Every user must release, also when it throws.
  T& wait_acquire() {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return !free_.empty(); });
    T& object = *free_.back();
    free_.pop_back();
    return object;
  }
  // One more that is free.
  void add(T object) {
    const std::lock_guard lock(mutex_);
    free_.push_back(&all_.emplace_back(std::move(object)));
  }
  void release(T& object) {
    const std::lock_guard lock(mutex_);
    free_.push_back(&object);
    released_.notify_one();
  }

  // Those in use, too: for when no thread uses any.
  std::deque<T>& all() { return all_; }
  const std::deque<T>& all() const { return all_; }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  std::deque<T> all_;
  std::vector<T*> free_;
};

}  // namespace biogpu
