#include "lib/qc/output/async_writer.hpp"

#include <utility>

#include "lib/core/timed.hpp"

namespace biogpu::qc {

AsyncWriter::AsyncWriter(io::output::AtomicFile& file) : file_(file) {
  thread_ = std::thread([this] { work(); });
}

AsyncWriter::~AsyncWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  given_.notify_one();
  thread_.join();
}

void AsyncWriter::write(io::CharBuffer& text) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return error_ || n_given_ - n_written_ < kBehind; });
  if (error_) std::rethrow_exception(error_);
  std::swap(text, texts_[n_given_++ % kBehind]);
  text.clear();
  given_.notify_one();
}

void AsyncWriter::finish() {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return error_ || n_given_ == n_written_; });
  if (error_) std::rethrow_exception(error_);
}

void AsyncWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    timed(wait_s_, [&] { given_.wait(lock, [&] { return stopping_ || n_written_ < n_given_; }); });
    if (stopping_) return;
    const io::CharBuffer& text = texts_[n_written_ % kBehind];
    lock.unlock();
    double seconds = 0;
    std::exception_ptr error;
    try {
      timed(seconds, [&] { file_.write(text.view()); });
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    busy_s_ += seconds;
    error_ = error;
    ++n_written_;
    written_.notify_one();
    if (error_) return;
  }
}

double AsyncWriter::busy_seconds() const {
  const std::lock_guard lock(mutex_);
  return busy_s_;
}

double AsyncWriter::wait_seconds() const {
  const std::lock_guard lock(mutex_);
  return wait_s_;
}

}  // namespace biogpu::qc
