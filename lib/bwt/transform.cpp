#include "lib/bwt/transform.hpp"

#include <array>
#include <bit>
#include <limits>

#include "lib/bwt/share_work.hpp"
#include "lib/bwt/suffix_array.hpp"
#include "lib/core/error.hpp"

namespace biogpu::bwt {
namespace {

using ByteCounts = std::array<std::uint64_t, 256>;

ByteCounts count_bytes(std::string_view text) {
  ByteCounts counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  return counts;
}

// The bytes that occur, renumbered without gaps, in as few bits as their number needs.
PackedText pack(std::string_view text, int n_threads) {
  const ByteCounts counts = count_bytes(text);
  std::array<std::uint8_t, 256> code{};
  unsigned n_codes = 0;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] != 0) code[c] = static_cast<std::uint8_t>(n_codes++);
  PackedText packed(text.size(), std::max(1, static_cast<int>(std::bit_width(n_codes - 1))));
  // 64 symbols fill whole words, so that pieces share none.
  share_range(
      n_threads, text.size(),
      [&](std::size_t, std::size_t i, std::size_t end) {
        for (; i < end; ++i) packed.set(i, code[static_cast<unsigned char>(text[i])]);
      },
      64);
  return packed;
}

// Calls use() with the suffix array in the narrower index that the text allows.
template <class Use>
void with_suffix_array(std::string_view text, std::span<const std::uint64_t> ends, int n_threads,
                       const Use& use) {
  const PackedText packed = pack(text, n_threads);
  const SuffixSource source{packed, ends};
  SuffixSortSettings settings;
  settings.n_threads = n_threads;
  if (text.size() < std::numeric_limits<std::uint32_t>::max()) {
    use(sort_suffixes<std::uint32_t>(source, settings));
  } else {
    use(sort_suffixes<std::uint64_t>(source, settings));
  }
}

// Where each byte's rows begin, the sentinel's own row not counted.
ByteCounts first_rows(std::string_view bwt) {
  ByteCounts first = count_bytes(bwt);
  std::uint64_t sum = 0;
  for (std::uint64_t& count : first) sum += std::exchange(count, sum);
  return first;
}

}  // namespace

std::string transform_set(const StringSetText& text, int n_threads) {
  const ByteCounts counts = count_bytes(text.letters);
  for (std::size_t c = 0; c <= static_cast<std::size_t>(kSentinel); ++c) {
    if (counts[c] != (c == static_cast<std::size_t>(kSentinel) ? text.ends.size() : 0))
      throw Error(ErrorCode::bad_input,
                  "a string holds '$' or a byte below it; expected letters alone");
  }
  std::string bwt(text.letters.size(), ' ');
  with_suffix_array(text.letters, text.ends, n_threads, [&](const auto& sa) {
    share_range(n_threads, sa.size(), [&](std::size_t, std::size_t i, std::size_t end) {
      // The symbol before the first is the last one: a sentinel.
      for (; i < end; ++i) bwt[i] = sa[i] == 0 ? kSentinel : text.letters[sa[i] - 1];
    });
  });
  return bwt;
}

StringSetText inverse_set(std::string_view bwt, int n_threads) {
  ByteCounts next = first_rows(bwt);
  const ByteCounts counts = count_bytes(bwt);
  const std::uint64_t n_strings = counts[static_cast<unsigned char>(kSentinel)];
  BigArray<std::uint64_t> before(bwt.size());  // the row of the suffix one symbol longer
  for (std::size_t i = 0; i < bwt.size(); ++i)
    before[i] = next[static_cast<unsigned char>(bwt[i])]++;
  // The sentinels have the first rows, in the order of the strings.
  std::vector<std::string> strings(n_strings);
  constexpr std::size_t kPerJob = 64;
  share_work(n_threads, (n_strings + kPerJob - 1) / kPerJob, [&](std::size_t, std::size_t job) {
    for (std::size_t s = job * kPerJob; s < std::min<std::size_t>(n_strings, (job + 1) * kPerJob);
         ++s) {
      for (std::uint64_t row = s; bwt[row] != kSentinel; row = before[row]) {
        strings[s] += bwt[row];
        if (strings[s].size() == bwt.size()) break;  // a circle
      }
    }
  });
  StringSetText text;
  for (std::string& string : strings) {
    std::reverse(string.begin(), string.end());
    text.append(string);
  }
  if (text.letters.size() != bwt.size())
    throw Error(
        ErrorCode::bad_input,
        "the text is no Burrows-Wheeler transform of strings: " + std::to_string(bwt.size()) +
            " symbols, of which " + std::to_string(text.letters.size()) + " can be read back");
  return text;
}

ByteBwt transform_bytes(std::string_view bytes, int n_threads) {
  ByteBwt bwt;
  if (bytes.empty()) return bwt;
  bwt.bytes.resize(bytes.size());
  with_suffix_array(bytes, {}, n_threads, [&](const auto& sa) {
    bwt.bytes[0] = bytes.back();
    for (std::size_t i = 0; i < sa.size(); ++i)
      if (sa[i] == 0) bwt.primary = i + 1;
    share_range(n_threads, sa.size(), [&](std::size_t, std::size_t i, std::size_t end) {
      for (; i < end; ++i)
        if (sa[i] != 0) bwt.bytes[i + (i + 1 < bwt.primary ? 1 : 0)] = bytes[sa[i] - 1];
    });
  });
  return bwt;
}

std::string inverse_bytes(const ByteBwt& bwt) {
  const std::size_t n = bwt.bytes.size();
  if (bwt.primary > n || (n > 0 && bwt.primary == 0))
    throw Error(ErrorCode::bad_input, "the row of the sentinel lies outside the transform");
  ByteCounts next = first_rows(bwt.bytes);
  BigArray<std::uint64_t> before(n);  // by stored symbol; rows as stored, the empty suffix first
  for (std::size_t i = 0; i < n; ++i)
    before[i] = next[static_cast<unsigned char>(bwt.bytes[i])]++ + 1;
  std::string bytes(n, '\0');
  std::uint64_t row = 0;
  for (std::size_t i = n; i-- > 0;) {
    if (row == bwt.primary)
      throw Error(ErrorCode::bad_input, "the bytes are no Burrows-Wheeler transform");
    const std::uint64_t stored = row - (row > bwt.primary ? 1 : 0);
    bytes[i] = bwt.bytes[stored];
    row = before[stored];
  }
  return bytes;
}

}  // namespace biogpu::bwt
