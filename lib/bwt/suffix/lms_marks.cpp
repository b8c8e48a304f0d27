#include "lib/bwt/suffix/lms_marks.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {

LmsMarks::LmsMarks(const SuffixSource& source, int n_threads)
    : n_(source.text.size()), marks_(n_ / 64 + 1) {
  const std::size_t n_symbols = std::size_t{1} << source.text.bits();
  const auto zeros = [&] { return std::vector<std::uint64_t>(n_symbols); };
  counts_ = {zeros(), zeros(), zeros()};
  std::mutex mutex;
  run_ranges_on_threads(
      n_threads, n_,
      [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
        const Counts counts = mark(source, begin, end);
        const std::lock_guard lock(mutex);
        for (std::size_t c = 0; c < n_symbols; ++c) {
          counts_.large[c] += counts.large[c];
          counts_.small[c] += counts.small[c];
          counts_.lms[c] += counts.lms[c];
        }
      },
      64);
  if (n_ % 64 == 0) marks_[n_ / 64] = 0;
  marks_[n_ / 64] |= std::uint64_t{1} << (n_ % 64);
}

// Equal symbols are passed a word at a time.
bool LmsMarks::is_small(const SuffixSource& source, std::uint64_t i) const {
  const PackedText& text = source.text;
  const unsigned symbol = text[i];
  if (!source.ends.empty() && symbol == 0) return true;
  const std::uint64_t step = text.symbols_per_word();
  while (i + 1 + step < n_ && text.word_at(i + 1) == text.word_at(i)) i += step;
  while (i + 1 < n_ && text[i + 1] == symbol) ++i;
  return i + 1 < n_ && symbol < text[i + 1];
}

LmsMarks::Counts LmsMarks::mark(const SuffixSource& source, std::uint64_t begin,
                                std::uint64_t end) {
  const PackedText& text = source.text;
  const std::size_t n_symbols = std::size_t{1} << text.bits();
  // By symbol, whether it is small, and whether it is LMS; neighbours in different tables, so that
  // equal ones do not wait for each other.
  std::array<std::vector<std::uint64_t>, 2> kinds;
  for (auto& table : kinds) table.resize(4 * n_symbols);
  const unsigned end_symbol = source.ends.empty() ? ~0u : 0;
  unsigned symbol = text[end - 1];
  unsigned small = is_small(source, end - 1) ? 1 : 0;
  std::uint64_t word = 0;
  for (std::uint64_t i = end; i-- > begin;) {
    // Suffix 0 has none before it and is never LMS.
    const unsigned before = i > 0 ? text[i - 1] : 0;
    const unsigned before_small = static_cast<unsigned>(before < symbol) |
                                  (static_cast<unsigned>(before == symbol) &
                                   (small | static_cast<unsigned>(symbol == end_symbol)));
    const unsigned lms = small & ~before_small;
    ++kinds[i % 2][symbol * 4 + small * 2 + lms];
    word |= std::uint64_t{lms} << (i % 64);
    if (i % 64 == 0) marks_[i / 64] = std::exchange(word, 0);
    symbol = before;
    small = before_small;
  }
  Counts counts;
  for (std::size_t c = 0; c < n_symbols; ++c) {
    const auto n = [&](std::size_t kind) {
      return kinds[0][c * 4 + kind] + kinds[1][c * 4 + kind];
    };
    counts.large.push_back(n(0));
    counts.small.push_back(n(2) + n(3));
    counts.lms.push_back(n(3));
  }
  return counts;
}

}  // namespace biogpu::bwt
