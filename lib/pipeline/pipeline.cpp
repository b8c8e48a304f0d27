#include "lib/pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/core/timed.hpp"

namespace biogpu::pipeline {
namespace {

// Items are numbered in reading order; item i lies in slot i % n_slots. One mutex is enough: an
// item is milliseconds of work, so the lock is taken a few hundred times a second. Each stage waits
// for a condition of its own, so that an item wakes the one thread that it is for.
class Ring {
 public:
  Ring(const Size& size, const Stages& stages)
      : stages_(stages),
        n_workers_(static_cast<std::size_t>(std::max(1, size.n_workers))),
        computed_(static_cast<std::size_t>(std::max(1, size.n_in_flight)), false) {}

  Times run() {
    {
      std::vector<std::jthread> threads;
      try {
        threads.reserve(n_workers_ + 1);
        threads.emplace_back([this] { guarded(&Ring::read_all); });
        for (std::size_t i = 0; i < n_workers_; ++i)
          threads.emplace_back([this] { guarded(&Ring::compute_all); });
      } catch (const std::system_error& error) {
        fail(std::make_exception_ptr(
            Error(ErrorCode::failed, fmt::format("cannot start {} threads: {}; use fewer threads",
                                                 n_workers_ + 1, error.code().message()))));
      } catch (...) {
        fail(std::current_exception());
      }
      guarded(&Ring::write_all);
    }
    if (error_) std::rethrow_exception(error_);
    return times_;
  }

 private:
  void guarded(void (Ring::*loop)()) noexcept {
    try {
      (this->*loop)();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    for (std::condition_variable* changed : {&freed_, &filled_, &next_computed_})
      changed->notify_all();
  }

  std::size_t slot(std::uint64_t item) const { return item % computed_.size(); }

  void read_all() {
    double seconds = 0;
    while (true) {
      std::unique_lock lock(mutex_);
      freed_.wait(lock, [&] { return error_ || n_read_ - n_written_ < computed_.size(); });
      if (error_) return;
      const std::size_t free_slot = slot(n_read_);
      lock.unlock();
      const bool filled = timed(seconds, [&] { return stages_.read(free_slot); });
      lock.lock();
      times_.read_s = seconds;
      if (filled) {
        ++n_read_;
        filled_.notify_one();
        continue;
      }
      ended_ = true;
      filled_.notify_all();
      next_computed_.notify_one();
      return;
    }
  }

  void compute_all() {
    std::unique_lock lock(mutex_);
    while (true) {
      filled_.wait(lock, [&] { return error_ || ended_ || n_taken_ < n_read_; });
      if (error_ || n_taken_ == n_read_) return;
      const std::size_t mine = slot(n_taken_++);
      lock.unlock();
      double seconds = 0;
      timed(seconds, [&] { stages_.compute(mine); });
      lock.lock();
      times_.compute_s += seconds;
      computed_[mine] = true;
      if (mine == slot(n_written_)) next_computed_.notify_one();
    }
  }

  void write_all() {
    std::unique_lock lock(mutex_);
    while (true) {
      const std::size_t next = slot(n_written_);
      next_computed_.wait(
          lock, [&] { return error_ || computed_[next] || (ended_ && n_written_ == n_read_); });
      if (error_ || !computed_[next]) return;
      lock.unlock();
      double seconds = 0;
      timed(seconds, [&] { stages_.write(next); });
      lock.lock();
      times_.write_s += seconds;
      computed_[next] = false;
      ++n_written_;
      freed_.notify_one();
    }
  }

  const Stages& stages_;
  const std::size_t n_workers_;
  std::mutex mutex_;
  std::condition_variable freed_;          // a slot: for the reader
  std::condition_variable filled_;         // a slot: for one of the workers
  std::condition_variable next_computed_;  // the next to write: for the writer
  std::vector<bool> computed_;             // per slot: computed and not yet written
  std::uint64_t n_read_ = 0;
  std::uint64_t n_taken_ = 0;
  std::uint64_t n_written_ = 0;
  bool ended_ = false;
  std::exception_ptr error_;
  Times times_;
};

}  // namespace

Times run(const Size& size, const Stages& stages) { return Ring(size, stages).run(); }

}  // namespace biogpu::pipeline
