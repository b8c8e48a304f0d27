#include "gpu/kmer/text/device_text.hpp"

#include <cstring>
#include <utility>

#include "gpu/kmer/timed.hpp"

namespace biogpu::gpu::kmer {

DeviceText::DeviceText(std::size_t stage_letters, std::uint64_t max_bytes, std::size_t max_chunks)
    : stage_letters_(stage_letters), max_bytes_(max_bytes), max_chunks_(max_chunks) {}

bool DeviceText::add(const PackedLetters& letters, Stream& stream) {
  std::size_t at = 0;
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      const std::uint64_t n_after = n_staged_ + letters.n_letters;
      const bool full = bytes_ + n_after / 4 + n_after / 8 + 4096 > max_bytes_ ||
                        chunks_.size() + 2 > max_chunks_;
      if (full && bytes_ + n_staged_ > 0) return false;
      if (n_after <= stage_letters_) break;
      flush_staged(lock, stream);
    }
    bases_.reserve(stage_letters_ / 16);
    invalid_.reserve(stage_letters_ / 32);
    at = n_staged_;
    n_staged_ += letters.n_letters;
    ++n_copying_;
  }
  std::memcpy(bases_.data() + at / 16, letters.bases, letters.n_letters / 4);
  std::memcpy(invalid_.data() + at / 32, letters.invalid, letters.n_letters / 8);
  const std::lock_guard lock(mutex_);
  if (--n_copying_ == 0) copied_.notify_all();
  return true;
}

void DeviceText::flush(Stream& stream) {
  std::unique_lock lock(mutex_);
  flush_staged(lock, stream);
}

void DeviceText::flush_staged(std::unique_lock<std::mutex>& lock, Stream& stream) {
  copied_.wait(lock, [&] { return n_copying_ == 0; });
  if (n_staged_ == 0) return;
  TextChunk chunk{DeviceBuffer<std::uint32_t>(n_staged_ / 16 + 4),
                  DeviceBuffer<std::uint32_t>(n_staged_ / 32 + 2), n_staged_};
  Timed timed(stream, copy_s_);
  stream.copy_to_device(chunk.bases.data(), bases_.data(), n_staged_ / 4);
  stream.copy_to_device(chunk.invalid.data(), invalid_.data(), n_staged_ / 8);
  timed.stop();
  bytes_ += chunk.bases.bytes() + chunk.invalid.bytes();
  chunks_.push_back(std::move(chunk));
  n_staged_ = 0;
}

void DeviceText::clear() {
  chunks_.clear();
  bytes_ = 0;
  n_staged_ = 0;
}

std::uint64_t DeviceText::n_bases() const {
  std::uint64_t n = 0;
  for (const TextChunk& chunk : chunks_) n += chunk.n_bases;
  return n;
}

}  // namespace biogpu::gpu::kmer
