// Patterns as they are searched, and places with mismatches: each piece of a pattern is found
// exactly, the letters around it are compared with the text.
#include <algorithm>
#include <array>
#include <tuple>

#include "lib/bwt/fm/fm_search.hpp"

namespace biogpu::bwt {
namespace {

constexpr std::uint8_t kOdd = 4;
constexpr std::uint64_t kLowBits = 0x5555555555555555ull;

constexpr std::array<std::uint8_t, 256> make_codes() {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(kOdd);
  for (std::uint8_t i = 0; i < 4; ++i) {
    codes[static_cast<unsigned char>("ACGT"[i])] = i;
    codes[static_cast<unsigned char>("acgt"[i])] = i;
  }
  codes['U'] = codes['u'] = 3;
  return codes;
}
constexpr std::array<std::uint8_t, 256> kCodes = make_codes();

// The letters of a pattern that differ from text[at, at + length), counted up to above k.
std::uint32_t count_mismatches(const FmIndex& index, const PatternSet& patterns,
                               const PatternSet::Pattern& pattern, std::uint64_t at,
                               std::uint32_t k) {
  std::uint32_t n_mismatches = 0;
  for (std::uint32_t i = 0; i < pattern.length && n_mismatches <= k; i += 32) {
    const std::uint64_t differs = index.text_word(at + i) ^ patterns.word_at(pattern, i);
    std::uint64_t letters = ((differs | differs >> 1) & kLowBits) | patterns.odd_at(pattern, i);
    const std::uint32_t n = std::min<std::uint32_t>(32, pattern.length - i);
    letters = letters >> (64 - 2 * n);
    n_mismatches += static_cast<std::uint32_t>(__builtin_popcountll(letters));
  }
  return n_mismatches;
}

// Gathers the places of one pattern.
class PlaceCollector {
 public:
  PlaceCollector(const FmIndex& index, const PatternSet& patterns, std::uint32_t k,
                 std::vector<Hit>& hits)
      : index_(index), patterns_(patterns), k_(k), hits_(hits) {}

  // at: where the pattern would begin in the segment's text. Any order, any number of times.
  void try_at(std::uint32_t pattern, const FmSegment& segment, std::uint64_t at) {
    const PatternSet::Pattern& letters = patterns_[pattern];
    if (at < segment.begin || at + letters.length > segment.begin + segment.length) return;
    const std::uint32_t n = count_mismatches(index_, patterns_, letters, at, k_);
    if (n <= k_)
      hits_.push_back({pattern, n, segment.contig, segment.contig_begin + at - segment.begin});
  }

  // Patterns too short for k + 1 pieces: every place may be one.
  void try_everywhere(std::uint32_t pattern) {
    for (const FmSegment& segment : index_.segments())
      for (std::uint64_t at = segment.begin; at < segment.begin + segment.length; ++at)
        try_at(pattern, segment, at);
  }

 private:
  const FmIndex& index_;
  const PatternSet& patterns_;
  const std::uint32_t k_;
  std::vector<Hit>& hits_;
};

}  // namespace

void PatternSet::clear() {
  words_.clear();
  patterns_.clear();
}

void PatternSet::append(std::string_view letters) {
  for (const bool reverse : {false, true}) {
    Pattern pattern;
    pattern.word = words_.size();
    pattern.length = static_cast<std::uint32_t>(letters.size());
    const std::uint64_t n = n_words(pattern.length);
    words_.resize(words_.size() + n);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const char letter = letters[reverse ? letters.size() - 1 - i : i];
      const std::uint8_t code = kCodes[static_cast<unsigned char>(letter)];
      const unsigned shift = 62 - 2 * (i % 32);
      if (code == kOdd) {
        if (pattern.plain) words_.resize(words_.size() + n);
        pattern.plain = false;
        words_[pattern.word + n + i / 32] |= std::uint64_t{1} << shift;
      } else {
        const std::uint64_t base = reverse ? 3u - code : code;
        words_[pattern.word + i / 32] |= base << shift;
      }
    }
    patterns_.push_back(pattern);
  }
}

void locate_patterns(const FmIndex& index, ExactSearch& search, const PatternSet& patterns,
                     std::size_t first, std::size_t last, std::uint32_t k, std::vector<Hit>& hits) {
  const std::size_t begin = hits.size();
  PlaceCollector places(index, patterns, k, hits);
  std::vector<Probe> probes;
  for (std::size_t p = first; p < last; ++p) {
    const std::uint64_t length = patterns[p].length;
    const auto pattern = static_cast<std::uint32_t>(p);
    if (length == 0) continue;
    if (length <= k) {
      places.try_everywhere(pattern);
      continue;
    }
    for (std::uint64_t piece = 0; piece <= k; ++piece) {
      const std::uint64_t from = length * piece / (k + 1);
      const std::uint64_t to = length * (piece + 1) / (k + 1);
      probes.push_back(
          {pattern, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to - from)});
    }
  }
  std::vector<ProbeHit> found;
  search.locate(patterns, probes, found);
  for (const ProbeHit& hit : found) {
    const Probe& probe = probes[hit.probe];
    if (hit.position >= probe.begin)
      places.try_at(probe.pattern, index.segment_of(hit.position), hit.position - probe.begin);
  }
  const auto key = [](const Hit& hit) { return std::tuple(hit.pattern, hit.contig, hit.begin); };
  const auto from = hits.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(from, hits.end(), [&](const Hit& a, const Hit& b) { return key(a) < key(b); });
  hits.erase(
      std::unique(from, hits.end(), [&](const Hit& a, const Hit& b) { return key(a) == key(b); }),
      hits.end());
}

}  // namespace biogpu::bwt
