#include "lib/kmer/sequences/packed_text.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "lib/kmer/sequences/minimizer_scan.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kMultiple = 64;

std::size_t round_up(std::size_t n) { return (n + kMultiple - 1) / kMultiple * kMultiple; }

}  // namespace

PackedText::PackedText(io::CharBuffer& letters) : n_letters_(round_up(letters.size())) {
  const std::size_t n = letters.size();
  letters.resize(n_letters_);
  std::memset(letters.data() + n, 'N', n_letters_ - n);
  words_.resize(n_letters_ / 4 + n_letters_ / 8);
  auto* const bases = reinterpret_cast<std::uint32_t*>(words_.data());
  pack_letters(letters.data(), n_letters_, bases, bases + n_letters_ / 16);
}

void PackedText::unpack(io::CharBuffer& letters) const {
  letters.resize(n_letters_);
  for (std::size_t i = 0; i < n_letters_; ++i) {
    const bool is_base = (invalid()[i / 32] >> i % 32 & 1) == 0;
    letters.data()[i] = is_base ? "ACGT"[bases()[i / 16] >> (30 - 2 * (i % 16)) & 3] : 'N';
  }
}

TextPacker::TextPacker(int k, char min_quality_symbol, std::size_t max_letters)
    : overlap_(static_cast<std::size_t>(k - 1)),
      min_quality_symbol_(min_quality_symbol),
      max_letters_(max_letters) {}

void TextPacker::pack(const FeedSequences& feed, const Take& take) {
  io::CharBuffer& letters = letters_.acquire();
  const auto flush = [&] {
    if (letters.size() > 0) take(PackedText(letters));
    letters.clear();
  };
  letters.clear();
  feed([&](std::string_view sequence, std::string_view quality) {
    for (std::size_t begin = 0; begin < sequence.size();) {
      const std::size_t left = sequence.size() - begin;
      if (letters.size() + left + 1 > max_letters_) flush();
      const std::size_t now = std::min(left, max_letters_ - 1);
      const std::size_t at = letters.size();
      letters.append(sequence.data() + begin, now);
      if (min_quality_symbol_ != 0 && !quality.empty())
        mask_low_quality(letters.data() + at, quality.data() + begin, now, min_quality_symbol_);
      letters.append("N", 1);
      if (now == left) break;
      begin += now - overlap_;
    }
  });
  flush();
  letters_.release(letters);
}

bool WaitingTexts::keep(PackedText& text) {
  const std::lock_guard lock(mutex_);
  if (released_ || bytes_ + text.bytes() > max_bytes_) return false;
  bytes_ += text.bytes();
  texts_.push_back(std::move(text));
  return true;
}

void WaitingTexts::release(const std::function<void(const PackedText& text)>& use, int n_threads) {
  std::vector<PackedText> texts;
  {
    const std::lock_guard lock(mutex_);
    released_ = true;
    texts.swap(texts_);
  }
  std::size_t next = 0;
  std::vector<std::size_t> taken(2 * static_cast<std::size_t>(n_threads));
  pipeline::run({n_threads, static_cast<int>(taken.size())},
                {[&](std::size_t slot) {
                   taken[slot] = next++;
                   return taken[slot] < texts.size();
                 },
                 [&](std::size_t slot) { use(texts[taken[slot]]); }, [](std::size_t) {}});
  try {
    freed_ = std::async(std::launch::async, [used = std::move(texts)]() mutable {
      std::vector<PackedText>().swap(used);
    });
  } catch (const std::system_error&) {
    // No thread: the texts that were not moved are freed here.
  }
}

}  // namespace biogpu::kmer
