#include "lib/bwt/suffix/suffix_buckets.hpp"

#include <hwy/cache_control.h>
#include "lib/core/run_on_threads.hpp"

#include <algorithm>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace biogpu::bwt {
namespace {

// Words gathered for a bucket before they are written: one cache line.
constexpr std::size_t kLineWords = 8;

// A bucket of typical size stays in the second-level cache while it is sorted.
int choose_bucket_bits(std::uint64_t n) {
  constexpr std::uint64_t kTypicalWords = 1u << 15;
  int bits = 4;
  while (bits < 16 && n >> bits > kTypicalWords / 2) bits += 2;
  return bits;
}

// Writes a line past the caches where the CPU can: nobody reads it before all are written.
void write_line(const std::uint64_t* from, std::uint64_t* to) {
#if defined(__SSE2__)
  for (std::size_t i = 0; i < kLineWords; i += 2)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
  std::copy_n(from, kLineWords, to);
#endif
}

}  // namespace

template <int kPosBits>
std::uint64_t SuffixBuckets<kPosBits>::count_suffixes(const SuffixSource& source,
                                                      const LmsMarks* lms) {
  if (lms == nullptr) return source.text.size();
  std::uint64_t n = 0;
  for (std::size_t c = source.ends.empty() ? 0 : 1; c < lms->n_symbols(); ++c) n += lms->n_lms(c);
  return n;
}

template <int kPosBits>
SuffixBuckets<kPosBits>::SuffixBuckets(const SuffixSource& source, std::uint64_t* words,
                                       int n_threads, const LmsMarks* lms)
    : source_(source), lms_(lms), words_(words) {
  bucket_bits_ = choose_bucket_bits(count_suffixes(source, lms));
  const std::uint64_t n = source.text.size();
  std::vector<Piece> pieces(static_cast<std::size_t>(std::max(n_threads, 1)));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].begin = n * i / pieces.size() / 64 * 64;
    pieces[i].end = i + 1 < pieces.size() ? n * (i + 1) / pieces.size() / 64 * 64 : n;
  }
  run_on_threads(n_threads, pieces.size(), [&](std::size_t, std::size_t i) { count(pieces[i]); });
  begin_.assign((std::size_t{1} << bucket_bits_) + 1, 0);
  std::uint64_t next = 0;
  for (std::size_t bucket = 0; bucket < n_buckets(); ++bucket) {
    begin_[bucket] = next;
    for (Piece& piece : pieces) next += std::exchange(piece.count[bucket], next);
  }
  begin_.back() = next;
  run_on_threads(n_threads, pieces.size(), [&](std::size_t, std::size_t i) { place(pieces[i]); });
}

// use(position, the text from there on).
template <int kPosBits>
template <class Use>
void SuffixBuckets<kPosBits>::for_each_suffix(const Piece& piece, const Use& use) const {
  if (lms_ == nullptr) {
    for (std::uint64_t i = piece.begin; i < piece.end; ++i) use(i, source_.word_at(i));
    return;
  }
  const bool has_ends = !source_.ends.empty();
  const int shift = 64 - source_.text.bits();
  lms_->for_each(piece.begin, piece.end, [&](std::uint64_t i) {
    const std::uint64_t text_word = source_.word_at(i);
    if (!has_ends || text_word >> shift != 0) use(i, text_word);
  });
}

template <int kPosBits>
void SuffixBuckets<kPosBits>::count(Piece& piece) const {
  piece.count.assign(std::size_t{1} << bucket_bits_, 0);
  const int shift = 64 - bucket_bits_;
  for_each_suffix(
      piece, [&](std::uint64_t, std::uint64_t text_word) { ++piece.count[text_word >> shift]; });
}

template <int kPosBits>
void SuffixBuckets<kPosBits>::place(Piece& piece) {
  const std::size_t n_buckets = std::size_t{1} << bucket_bits_;
  const int shift = 64 - bucket_bits_;
  BigArray<std::uint64_t> lines(n_buckets * kLineWords);
  std::vector<std::uint64_t>& next = piece.count;
  const std::vector<std::uint64_t> first = next;
  for_each_suffix(piece, [&](std::uint64_t i, std::uint64_t text_word) {
    const std::size_t bucket = text_word >> shift;
    std::uint64_t* const line = lines.data() + bucket * kLineWords;
    const std::uint64_t at = next[bucket]++;
    line[at % kLineWords] = SuffixWord<kPosBits>::make(text_word, bucket_bits_, i);
    if (at % kLineWords != kLineWords - 1) return;
    // The first line of this piece may begin with words of the piece before.
    const std::uint64_t begin = at - (kLineWords - 1);
    if (begin >= first[bucket]) {
      write_line(line, words_ + begin);
    } else {
      const std::uint64_t skip = first[bucket] - begin;
      std::copy(line + skip, line + kLineWords, words_ + first[bucket]);
    }
  });
  for (std::size_t bucket = 0; bucket < n_buckets; ++bucket) {
    const std::uint64_t end = next[bucket];
    const std::uint64_t begin = std::max(end / kLineWords * kLineWords, first[bucket]);
    const std::uint64_t* const line = lines.data() + bucket * kLineWords;
    std::copy(line + begin % kLineWords, line + begin % kLineWords + (end - begin), words_ + begin);
  }
  hwy::FlushStream();
}

template class SuffixBuckets<32>;
template class SuffixBuckets<40>;

}  // namespace biogpu::bwt
