#include "lib/bwt/transform.hpp"

#include <array>
#include <bit>
#include <limits>

#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/core/error.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {
namespace {

// Texts below have positions of 4 bytes.
constexpr std::uint64_t kFewSymbols = std::numeric_limits<std::uint32_t>::max();

using ByteCounts = std::array<std::uint64_t, 256>;

// Four tables, so that equal neighbours do not wait for each other.
ByteCounts count_bytes(std::string_view text) {
  std::array<ByteCounts, 4> counts{};
  for (std::size_t i = 0; i < text.size(); ++i)
    ++counts[i % counts.size()][static_cast<unsigned char>(text[i])];
  for (std::size_t c = 0; c < counts[0].size(); ++c)
    for (std::size_t k = 1; k < counts.size(); ++k) counts[0][c] += counts[k][c];
  return counts[0];
}

// Bytes that are renumbered without gaps, in as few bits as their number needs.
struct PackedBytes {
  PackedText text;
  std::array<char, 256> byte{};  // of each number
};

PackedBytes pack(std::string_view text, int n_threads) {
  const ByteCounts counts = count_bytes(text);
  PackedBytes result;
  std::array<std::uint8_t, 256> code{};
  unsigned n_codes = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    result.byte[n_codes] = static_cast<char>(c);
    code[c] = static_cast<std::uint8_t>(n_codes++);
  }
  const int bits = std::max(1, static_cast<int>(std::bit_width(n_codes - 1)));
  result.text = PackedText(text.size(), bits);
  PackedText& packed = result.text;
  const auto code_at = [&](std::size_t i) { return code[static_cast<unsigned char>(text[i])]; };
  const std::size_t per_word = packed.symbols_per_word();
  // 64 symbols fill whole words, so that pieces share none.
  run_ranges_on_threads(
      n_threads, text.size(),
      [&](std::size_t, std::size_t i, std::size_t end) {
        std::uint64_t* to = packed.words() + i * static_cast<unsigned>(bits) / 64;
        for (; 64 % bits == 0 && i + per_word <= end; i += per_word) {
          std::uint64_t word = 0;
          for (std::size_t k = 0; k < per_word; ++k) word = word << bits | code_at(i + k);
          *to++ = word;
        }
        for (; i < end; ++i) packed.set(i, code_at(i));
      },
      64);
  return result;
}

// Calls place(i, byte) for each i in [begin, end) with the byte before suffix sa[i]. The packed
// text is a fraction of the text's size, so that fewer of these accesses at random miss the caches.
template <class Index, class Place>
void gather_before(const PackedBytes& packed, const BigArray<Index>& sa, std::size_t begin,
                   std::size_t end, const Place& place) {
  constexpr std::size_t kAhead = 32;
  for (std::size_t i = begin; i < end; ++i) {
    if (i + kAhead < end) packed.text.prefetch(std::max<Index>(sa[i + kAhead], 1) - 1);
    const std::uint64_t last = packed.text.size() - 1;
    place(i, packed.byte[packed.text[sa[i] == 0 ? last : sa[i] - 1]]);
  }
}

// Calls use() with the packed text and its suffix array in the narrower index that it allows.
template <class Use>
void with_suffix_array(std::string_view text, std::span<const std::uint64_t> ends,
                       const SuffixSortSettings& sort, SuffixSortReport* report, const Use& use) {
  const PackedBytes packed = pack(text, sort.n_threads);
  const SuffixSource source{packed.text, ends};
  if (text.size() < kFewSymbols) {
    use(packed, sort_suffixes<std::uint32_t>(source, sort, report));
  } else {
    use(packed, sort_suffixes<std::uint64_t>(source, sort, report));
  }
}

// Where each byte's rows begin, the sentinel's own row not counted.
ByteCounts first_rows(std::string_view bwt) {
  ByteCounts first = count_bytes(bwt);
  std::uint64_t sum = 0;
  for (std::uint64_t& count : first) sum += std::exchange(count, sum);
  return first;
}

void require_no_byte_below_sentinel(std::string_view bwt, const ByteCounts& counts) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(kSentinel); ++c)
    if (counts[c] != 0)
      throw Error(ErrorCode::bad_input,
                  "the text is no Burrows-Wheeler transform of strings: byte " + std::to_string(c) +
                      " at offset " + std::to_string(bwt.find(static_cast<char>(c))) +
                      "; expected letters and '$', all in one line");
}

}  // namespace

BigArray<std::uint32_t> suffix_array_of(std::string_view bytes, int n_threads) {
  if (bytes.size() >= kFewSymbols)
    throw Error(ErrorCode::bad_input, "the text has " + std::to_string(bytes.size()) +
                                          " bytes; expected fewer than 2^32 - 1");
  const PackedBytes packed = pack(bytes, n_threads);
  SuffixSortSettings settings;
  settings.n_threads = n_threads;
  return sort_suffixes<std::uint32_t>({packed.text}, settings);
}

std::string transform_set(const StringSetText& text, const SuffixSortSettings& sort,
                          SuffixSortReport* report) {
  const ByteCounts counts = count_bytes(text.letters);
  for (std::size_t c = 0; c <= static_cast<std::size_t>(kSentinel); ++c) {
    if (counts[c] != (c == static_cast<std::size_t>(kSentinel) ? text.ends.size() : 0))
      throw Error(ErrorCode::bad_input,
                  "a string holds '$' or a byte below it; expected letters alone");
  }
  std::string bwt(text.letters.size(), ' ');
  with_suffix_array(text.letters, text.ends, sort, report, [&](const auto& packed, const auto& sa) {
    run_ranges_on_threads(
        sort.n_threads, sa.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
          // The symbol before the first is the last one: a sentinel.
          char* const to = bwt.data();
          gather_before(packed, sa, begin, end, [to](std::size_t i, char byte) { to[i] = byte; });
        });
  });
  return bwt;
}

StringSetText inverse_set(std::string_view bwt, int n_threads) {
  ByteCounts next = first_rows(bwt);
  const ByteCounts counts = count_bytes(bwt);
  // Strings begin in the first rows because no byte is below the sentinel; with one, they would be
  // read from the wrong rows, in circles.
  require_no_byte_below_sentinel(bwt, counts);
  const std::uint64_t n_strings = counts[static_cast<unsigned char>(kSentinel)];
  BigArray<std::uint64_t> before(bwt.size());  // the row of the suffix one symbol longer
  for (std::size_t i = 0; i < bwt.size(); ++i)
    before[i] = next[static_cast<unsigned char>(bwt[i])]++;
  // The sentinels have the first rows, in the order of the strings.
  std::vector<std::string> strings(n_strings);
  constexpr std::size_t kPerJob = 64;
  run_on_threads(n_threads, (n_strings + kPerJob - 1) / kPerJob, [&](std::size_t, std::size_t job) {
    for (std::size_t s = job * kPerJob; s < std::min<std::size_t>(n_strings, (job + 1) * kPerJob);
         ++s) {
      // Ends, as only sentinels lead to the first rows and each row to another one.
      for (std::uint64_t row = s; bwt[row] != kSentinel; row = before[row]) strings[s] += bwt[row];
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

ByteBwt transform_bytes(std::string_view bytes, const SuffixSortSettings& sort,
                        SuffixSortReport* report) {
  ByteBwt bwt;
  if (bytes.empty()) return bwt;
  bwt.bytes.resize(bytes.size());
  with_suffix_array(bytes, {}, sort, report, [&](const auto& packed, const auto& sa) {
    std::size_t whole = 0;  // where the suffix that is the text lies
    run_ranges_on_threads(
        sort.n_threads, sa.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
          const auto* const found = std::find(sa.begin() + begin, sa.begin() + end, 0u);
          if (found != sa.begin() + end) whole = static_cast<std::size_t>(found - sa.begin());
        });
    bwt.primary = whole + 1;
    char* const to = bwt.bytes.data();
    to[0] = bytes.back();
    run_ranges_on_threads(sort.n_threads, sa.size(),
                          [&](std::size_t, std::size_t begin, std::size_t end) {
                            gather_before(packed, sa, begin, std::min(end, std::max(begin, whole)),
                                          [to](std::size_t i, char byte) { to[i + 1] = byte; });
                            gather_before(packed, sa, std::max(begin, std::min(end, whole + 1)),
                                          end, [to](std::size_t i, char byte) { to[i] = byte; });
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
