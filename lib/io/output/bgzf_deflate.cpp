#include "lib/io/output/bgzf_deflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace biogpu::io::output {
namespace {

constexpr std::size_t kBlockText = 0xff00;  // as bgzip: stays below 64 KiB even when stored
constexpr std::size_t kGroupText = 16 * kBlockText;
constexpr std::size_t kHeaderBytes = 18;
constexpr std::size_t kTrailerBytes = 8;
constexpr int kLevel = 6;

constexpr std::string_view kHeader("\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0\x42\x43\x02\0\0\0",
                                   kHeaderBytes);
constexpr std::string_view kEndMarker(
    "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0\x42\x43\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0", 28);

void put_little_endian(char* to, std::uint32_t value, int n_bytes) {
  for (int i = 0; i < n_bytes; ++i) to[i] = static_cast<char>(value >> 8 * i);
}

void pack_block(libdeflate_compressor* compressor, std::string_view text, CharBuffer& packed) {
  const std::size_t begin = packed.size();
  const std::size_t room = libdeflate_deflate_compress_bound(compressor, text.size());
  packed.append(kHeader.data(), kHeader.size());
  packed.resize(begin + kHeaderBytes + room + kTrailerBytes);
  char* block = packed.data() + begin;
  const std::size_t n =
      libdeflate_deflate_compress(compressor, text.data(), text.size(), block + kHeaderBytes, room);
  const std::size_t size = kHeaderBytes + n + kTrailerBytes;
  put_little_endian(block + kHeaderBytes - 2, static_cast<std::uint32_t>(size - 1), 2);
  char* trailer = block + kHeaderBytes + n;
  put_little_endian(trailer, libdeflate_crc32(0, text.data(), text.size()), 4);
  put_little_endian(trailer + 4, static_cast<std::uint32_t>(text.size()), 4);
  packed.resize(begin + size);
}

}  // namespace

void BgzfDeflate::pack(Job& job) {
  if (!job.compressor) job.compressor = make_compressor(kLevel);
  std::string_view text = job.text.view();
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kBlockText))) {
    pack_block(job.compressor.get(), text.substr(0, kBlockText), job.packed);
  }
}

BgzfDeflate::BgzfDeflate(AtomicFile& file, int n_threads)
    : file_(file), jobs_(n_threads > 1 ? static_cast<std::size_t>(2 * n_threads) : 1) {
  workers_.reserve(static_cast<std::size_t>(std::max(n_threads, 1)));
  try {
    for (int i = 0; n_threads > 1 && i < n_threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // No thread or no memory for one more: those that run, or the caller alone, do the work.
  }
}

BgzfDeflate::~BgzfDeflate() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  submitted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void BgzfDeflate::write(std::string_view text) {
  while (!text.empty()) {
    CharBuffer& group = job(n_submitted_).text;
    const std::size_t part = std::min(text.size(), kGroupText - group.size());
    group.append(text.data(), part);
    text.remove_prefix(part);
    if (group.size() == kGroupText) submit();
  }
}

void BgzfDeflate::finish() {
  if (job(n_submitted_).text.size() > 0) submit();
  while (n_written_ < n_submitted_) write_oldest();
  file_.write(kEndMarker);
}

// Hands the current group over and makes the next one free.
void BgzfDeflate::submit() {
  if (workers_.empty()) {
    Job& own = job(n_submitted_);
    pack(own);
    own.done = true;
  }
  {
    const std::lock_guard lock(mutex_);
    ++n_submitted_;
  }
  submitted_.notify_one();
  if (n_submitted_ - n_written_ == jobs_.size()) write_oldest();
}

void BgzfDeflate::write_oldest() {
  Job& oldest = job(n_written_);
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return oldest.done; });
  }
  if (oldest.error) std::rethrow_exception(oldest.error);
  file_.write(oldest.packed.view());
  oldest.text.clear();
  oldest.packed.clear();
  oldest.done = false;
  ++n_written_;
}

void BgzfDeflate::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    submitted_.wait(lock, [&] { return stopping_ || n_started_ < n_submitted_; });
    if (stopping_) return;
    Job& next = job(n_started_++);
    lock.unlock();
    std::exception_ptr error;
    try {
      pack(next);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    next.error = error;
    next.done = true;
    done_.notify_one();
  }
}

}  // namespace biogpu::io::output
