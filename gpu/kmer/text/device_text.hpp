#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

// Letters on the host, two bits a base: bases[n_letters / 16], the first in the highest pair, and
// invalid[n_letters / 32], bit i % 32 of word i / 32: letter i is no base. n_letters: a multiple
// of 64.
struct PackedLetters {
  const std::uint32_t* bases = nullptr;
  const std::uint32_t* invalid = nullptr;
  std::size_t n_letters = 0;
};

// A part of the text on the device, laid out likewise; the words after those of n_bases letters are
// readable.
struct TextChunk {
  DeviceBuffer<std::uint32_t> bases;
  DeviceBuffer<std::uint32_t> invalid;
  std::uint64_t n_bases = 0;
};

// Letters on their way to the device, and those that lie there. No window reaches from one add()
// into the next: each ends with a letter that is no base.
class DeviceText {
 public:
  // stage_letters: copied at a time, the most in a chunk and in one add(); a multiple of 64.
  // max_bytes: what all chunks may take together; max_chunks: how many there may be.
  DeviceText(std::size_t stage_letters, std::uint64_t max_bytes, std::size_t max_chunks);

  // From now on; what lies there stays.
  void limit(std::uint64_t max_bytes) { max_bytes_ = max_bytes; }
  // False, with nothing changed, where there is no room. An empty text takes anything. Any thread,
  // many at a time: only the positions of their letters are given out in turn.
  bool add(const PackedLetters& letters, Stream& stream);
  // Moves what is staged to the device.
  void flush(Stream& stream);
  void clear();

  const std::vector<TextChunk>& chunks() const { return chunks_; }
  std::uint64_t n_bases() const;
  std::uint64_t bytes() const { return bytes_; }
  double copy_s() const { return copy_s_; }

 private:
  void flush_staged(std::unique_lock<std::mutex>& lock, Stream& stream);

  const std::size_t stage_letters_;
  std::uint64_t max_bytes_;
  const std::size_t max_chunks_;
  PinnedBuffer<std::uint32_t> bases_;  // of several add()s, not yet on the device
  PinnedBuffer<std::uint32_t> invalid_;
  std::mutex mutex_;                // of what follows
  std::condition_variable copied_;  // n_copying_ is 0
  std::size_t n_copying_ = 0;       // add()s that copy into what is staged
  std::size_t n_staged_ = 0;
  std::vector<TextChunk> chunks_;
  std::uint64_t bytes_ = 0;  // of all chunks
  double copy_s_ = 0;
};

}  // namespace biogpu::gpu::kmer
