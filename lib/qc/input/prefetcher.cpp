#include "lib/qc/input/prefetcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/timed.hpp"

namespace biogpu::qc {
namespace {
constexpr std::size_t kAhead = 2;
}

Prefetcher::Prefetcher(FastqFile& file, std::size_t n_records, std::uint64_t max_records,
                       std::size_t max_bytes)
    : file_(file),
      n_records_(n_records),
      max_records_(max_records == 0 ? UINT64_MAX : max_records),
      max_bytes_(max_bytes),
      slots_(kAhead) {
  thread_ = std::thread([this] { work(); });
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetcher::work() {
  std::uint64_t n_left = max_records_;
  for (;;) {
    std::unique_lock lock(mutex_);
    timed(wait_s_, [&] {
      changed_.wait(lock, [&] { return stopping_ || n_read_ - n_taken_ < slots_.size(); });
    });
    if (stopping_) return;
    FastqChunk& chunk = slots_[n_read_ % slots_.size()];
    lock.unlock();
    bool more = false;
    double seconds = 0;
    std::exception_ptr error;
    try {
      more =
          timed(seconds, [&] { return read(chunk, std::min<std::uint64_t>(n_records_, n_left)); });
    } catch (...) {
      error = std::current_exception();
    }
    n_left -= chunk.records.size();
    lock.lock();
    busy_s_ += seconds;
    error_ = error;
    ended_ = !more;
    n_read_ += more;
    changed_.notify_all();
    if (ended_) return;
  }
}

bool Prefetcher::read(FastqChunk& chunk, std::uint64_t n) {
  const bool more = file_.read(chunk, static_cast<std::size_t>(n), max_bytes_);
  const std::size_t n_bytes = chunk.text.size() - std::min(chunk.text.size(), FastqChunk::kPadding);
  if (n_bytes >= max_bytes_)
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: record {}: the {} reads that end here take {} bytes, {} or more; "
                    "expected shorter reads, or fewer at a time with --batch",
                    file_.label(), file_.n_records(), chunk.records.size(), n_bytes, max_bytes_));
  return more;
}

bool Prefetcher::next(FastqChunk& chunk) {
  std::unique_lock lock(mutex_);
  timed(next_s_, [&] { changed_.wait(lock, [&] { return ended_ || n_taken_ < n_read_; }); });
  if (n_taken_ == n_read_) {
    if (error_) std::rethrow_exception(error_);
    return false;
  }
  std::swap(chunk, slots_[n_taken_ % slots_.size()]);
  ++n_taken_;
  changed_.notify_all();
  return true;
}

double Prefetcher::busy_seconds() const {
  const std::lock_guard lock(mutex_);
  return busy_s_;
}

double Prefetcher::wait_seconds() const {
  const std::lock_guard lock(mutex_);
  return wait_s_;
}

double Prefetcher::next_seconds() const {
  const std::lock_guard lock(mutex_);
  return next_s_;
}

}  // namespace biogpu::qc
