#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <string_view>
#include <vector>

#include "lib/core/object_pool.hpp"
#include "lib/io/char_buffer.hpp"

namespace biogpu::kmer {

// Takes one sequence; quality may be empty.
using AddSequence = std::function<void(std::string_view sequence, std::string_view quality)>;
// Calls add for each of its sequences.
using FeedSequences = std::function<void(const AddSequence& add)>;

// Letters packed as pack_letters() has them. Move only.
class PackedText {
 public:
  // `letters` become so many by N that their number is a multiple of 64.
  explicit PackedText(io::CharBuffer& letters);

  std::size_t n_letters() const { return n_letters_; }
  std::size_t bytes() const { return words_.size(); }
  const std::uint32_t* bases() const {
    return reinterpret_cast<const std::uint32_t*>(words_.data());
  }
  const std::uint32_t* invalid() const { return bases() + n_letters_ / 16; }
  // The letters again in capitals, N for what is no base.
  void unpack(io::CharBuffer& letters) const;

 private:
  std::size_t n_letters_;
  io::CharBuffer words_;
};

// Packs sequences, N behind each.
class TextPacker {
 public:
  // Texts hold at most max_letters, more than k and a multiple of 64: a longer sequence is cut,
  // with k - 1 letters in both pieces. Symbols below min_quality_symbol hide their base; 0 hides
  // none.
  TextPacker(int k, char min_quality_symbol, std::size_t max_letters);

  // take(text) for what feed(add) adds. Any thread, many at a time.
  using Take = std::function<void(PackedText text)>;
  void pack(const FeedSequences& feed, const Take& take);

 private:
  const std::size_t overlap_;
  const char min_quality_symbol_;
  const std::size_t max_letters_;
  ObjectPool<io::CharBuffer> letters_;
};

// Texts that wait for what is to count them. Any thread.
class WaitingTexts {
 public:
  explicit WaitingTexts(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // False, with the text as it was, where no more fits or after release().
  bool keep(PackedText& text);
  // use(text) for each, on n_threads at a time; none is kept any more. Their memory is freed behind
  // the caller's back, which takes as long as handing them on.
  void release(const std::function<void(const PackedText& text)>& use, int n_threads = 1);

 private:
  const std::uint64_t max_bytes_;
  std::mutex mutex_;
  bool released_ = false;
  std::uint64_t bytes_ = 0;
  std::vector<PackedText> texts_;
  std::future<void> freed_;
};

}  // namespace biogpu::kmer
