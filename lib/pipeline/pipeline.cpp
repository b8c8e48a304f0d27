#include "lib/pipeline/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/core/timed.hpp"
#include "lib/io/thread_failure.hpp"

namespace biogpu::pipeline {
namespace {

// From the first begin() to the last end(), which is called with the lock of the ring.
class WallTime {
 public:
  void begin() {
    if (!begun_) first_ = Clock::now();
    begun_ = true;
  }
  double end() const { return std::chrono::duration<double>(Clock::now() - first_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  bool begun_ = false;
  Clock::time_point first_;
};

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
      } catch (const std::system_error&) {
        fail(std::make_exception_ptr(io::thread_failure()));
      } catch (...) {
        fail(std::current_exception());
      }
      guarded(&Ring::write_all);
    }
    if (error_) std::rethrow_exception(error_);
    times_.n_workers = static_cast<int>(n_workers_);
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

  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, double& seconds,
            const Condition& condition) {
    if (!condition()) timed(seconds, [&] { changed.wait(lock, condition); });
  }

  void read_all() {
    WallTime wall;
    wall.begin();
    double seconds = 0;
    while (true) {
      std::unique_lock lock(mutex_);
      wait(lock, freed_, times_.read_wait_s,
           [&] { return error_ || n_read_ - n_written_ < computed_.size(); });
      if (error_) return;
      const std::size_t free_slot = slot(n_read_);
      lock.unlock();
      const bool filled = timed(seconds, [&] { return stages_.read(free_slot); });
      lock.lock();
      times_.read_s = seconds;
      times_.read_wall_s = wall.end();
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
      double waited = 0;
      wait(lock, filled_, waited, [&] { return error_ || ended_ || n_taken_ < n_read_; });
      times_.compute_wait_s += waited;
      if (error_ || n_taken_ == n_read_) return;
      const std::size_t mine = slot(n_taken_++);
      compute_wall_.begin();
      lock.unlock();
      double seconds = 0;
      timed(seconds, [&] { stages_.compute(mine); });
      lock.lock();
      times_.compute_s += seconds;
      times_.compute_wall_s = compute_wall_.end();
      computed_[mine] = true;
      if (mine == slot(n_written_)) next_computed_.notify_one();
    }
  }

  void write_all() {
    WallTime wall;
    std::unique_lock lock(mutex_);
    while (true) {
      const std::size_t next = slot(n_written_);
      wait(lock, next_computed_, times_.write_wait_s,
           [&] { return error_ || computed_[next] || (ended_ && n_written_ == n_read_); });
      if (error_ || !computed_[next]) return;
      lock.unlock();
      wall.begin();
      double seconds = 0;
      timed(seconds, [&] { stages_.write(next); });
      lock.lock();
      times_.write_s += seconds;
      times_.write_wall_s = wall.end();
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
  WallTime compute_wall_;
};

}  // namespace

Times& Times::operator+=(const Times& other) {
  for (double Times::*const sum :
       {&Times::read_s, &Times::compute_s, &Times::write_s, &Times::read_wait_s,
        &Times::compute_wait_s, &Times::write_wait_s, &Times::read_wall_s, &Times::compute_wall_s,
        &Times::write_wall_s})
    this->*sum += other.*sum;
  n_workers = std::max(n_workers, other.n_workers);
  return *this;
}

std::vector<StageTimes> stages_of(const Times& times) {
  return {{"read", 1, times.read_wall_s, times.read_s, times.read_wait_s, "free slots", 0},
          {"compute", times.n_workers, times.compute_wall_s, times.compute_s, times.compute_wait_s,
           "input", 0},
          {"write", 1, times.write_wall_s, times.write_s, times.write_wait_s, "results", 0}};
}

Times run(const Size& size, const Stages& stages) { return Ring(size, stages).run(); }

}  // namespace biogpu::pipeline
