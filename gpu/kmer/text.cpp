#include "gpu/kmer/text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/kmer/letters.hpp"
#include "gpu/kmer/timed.hpp"

namespace biogpu::gpu::kmer {
namespace {

std::size_t round_up(std::size_t n, std::size_t by) { return (n + by - 1) / by * by; }

}  // namespace

DeviceText::DeviceText(int k, std::size_t stage_bytes, std::uint64_t max_bytes,
                       std::size_t max_chunks)
    : overlap_(static_cast<std::size_t>(k - 1)),
      stage_bytes_(stage_bytes),
      max_bytes_(max_bytes),
      max_chunks_(max_chunks) {}

bool DeviceText::add(const char* letters, std::size_t n, Stream& stream) {
  const std::uint64_t needed = (n_staged_ + n) / 4 + (n_staged_ + n) / 8 + 4096;
  const std::size_t n_chunks = chunks_.size() + 2 + n / (stage_bytes_ - overlap_);
  const bool full = bytes_ + needed > max_bytes_ || n_chunks > max_chunks_;
  if (full && bytes_ + n_staged_ > 0) return false;
  for (std::size_t begin = 0; begin < n;) {
    // A text that has to be cut begins in an empty stage, so that no piece is short.
    if (n_staged_ > 0 && n_staged_ + (n - begin) + 1 > stage_bytes_) flush(stream);
    staged_.reserve(stage_bytes_ + 32);
    const std::size_t now = std::min(stage_bytes_ - 1, n - begin);
    std::memcpy(staged_.data() + n_staged_, letters + begin, now);
    staged_.data()[n_staged_ + now] = '\0';  // no base
    n_staged_ += now + 1;
    if (begin + now == n) break;
    begin += now - overlap_;
  }
  return true;
}

void DeviceText::flush(Stream& stream) {
  if (n_staged_ == 0) return;
  const std::size_t n_words = round_up(n_staged_, 32) / 16;
  std::memset(staged_.data() + n_staged_, 0, n_words * 16 - n_staged_);
  letters_.reserve(stage_bytes_ + 32);
  TextChunk chunk{DeviceBuffer<std::uint32_t>(n_words + 4),
                  DeviceBuffer<std::uint32_t>(n_words / 2 + 2), n_staged_};
  Timed timed(stream, pack_s_);
  stream.copy_to_device(letters_.data(), staged_.data(), n_words * 16);
  launch_pack_letters({letters_.data(), chunk.bases.data(), chunk.invalid.data(), n_words}, stream);
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
