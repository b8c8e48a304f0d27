#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

// A part of the text as launch_pack_letters leaves it.
struct TextChunk {
  DeviceBuffer<std::uint32_t> bases;
  DeviceBuffer<std::uint32_t> invalid;
  std::uint64_t n_bases = 0;
};

// Letters on their way to the device, and those that lie there with two bits a base. No window of k
// letters reaches from one chunk into the next: where a text is cut, k - 1 letters are repeated.
class DeviceText {
 public:
  // stage_bytes: letters copied and packed at a time, and the most in a chunk; a multiple of 32.
  // max_bytes: what all chunks may take together; max_chunks: how many there may be.
  DeviceText(int k, std::size_t stage_bytes, std::uint64_t max_bytes, std::size_t max_chunks);

  // False, with nothing changed, where there is no room. An empty text takes anything.
  bool add(const char* letters, std::size_t n, Stream& stream);
  // Moves what is staged to the device.
  void flush(Stream& stream);
  void clear();
  // Frees what only adding needs.
  void release_stage() { letters_ = {}; }

  const std::vector<TextChunk>& chunks() const { return chunks_; }
  std::uint64_t n_bases() const;
  std::uint64_t bytes() const { return bytes_ + letters_.bytes(); }
  double pack_s() const { return pack_s_; }

 private:
  const std::size_t overlap_;
  const std::size_t stage_bytes_;
  const std::uint64_t max_bytes_;
  const std::size_t max_chunks_;
  PinnedBuffer<char> staged_;  // letters of several add()s, not yet on the device
  std::size_t n_staged_ = 0;
  DeviceBuffer<char> letters_;
  std::vector<TextChunk> chunks_;
  std::uint64_t bytes_ = 0;  // of all chunks
  double pack_s_ = 0;
};

}  // namespace biogpu::gpu::kmer
