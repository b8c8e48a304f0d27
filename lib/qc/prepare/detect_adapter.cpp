#include "lib/qc/prepare/detect_adapter.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lib/qc/prepare/known_adapters.hpp"

namespace biogpu::qc {
namespace {

constexpr int kSeed = 10;  // bases
constexpr std::size_t kSeeds = std::size_t{1} << (2 * kSeed);
constexpr int kFirstPosition = 20;
constexpr int kLastSeedOfFastp1 = 500;  // one that lies further in is not grown
constexpr std::size_t kMinReads = 10000;
constexpr std::size_t kCandidates = 10;
constexpr std::size_t kLongest = 60;
constexpr std::string_view kCodeBases = "ATCG";

int seed_code(char base) {
  const std::size_t code = kCodeBases.find(base);
  return code == std::string_view::npos ? -1 : static_cast<int>(code);
}

// Calls see(position, seed) for every 10-mer of A, C, G and T that begins at base 20 or later and
// ends `shift` bases before the read's end or earlier.
template <class See>
void for_each_seed(std::string_view read, int shift, See see) {
  std::uint32_t seed = 0;
  int n_valid = 0;
  const int last = static_cast<int>(read.size()) - shift;
  for (int i = kFirstPosition; i < last; ++i) {
    const int code = seed_code(read[static_cast<std::size_t>(i)]);
    n_valid = code < 0 ? 0 : n_valid + 1;
    seed = (seed << 2 | static_cast<std::uint32_t>(code & 3)) & (kSeeds - 1);
    if (n_valid >= kSeed) see(i - kSeed + 1, seed);
  }
}

std::string seed_text(std::uint32_t seed) {
  std::string text(kSeed, ' ');
  for (int i = kSeed; i-- > 0; seed >>= 2) text[static_cast<std::size_t>(i)] = kCodeBases[seed & 3];
  return text;
}

bool is_plausible(std::uint32_t seed) {
  std::array<int, 4> n{};
  for (int i = 0; i < kSeed; ++i) ++n[seed >> (2 * i) & 3];
  const bool monotonous = *std::max_element(n.begin(), n.end()) >= kSeed - 4;
  const bool rich_in_gc = n[2] + n[3] >= kSeed - 2;
  const bool starts_with_gggg = seed >> (2 * (kSeed - 4)) == 0xff;
  return !monotonous && !rich_in_gc && !starts_with_gggg;
}

// The most frequent seeds, most frequent first; of equal ones the later first.
std::array<std::uint32_t, kCandidates> most_frequent(const std::vector<std::uint32_t>& counts,
                                                     std::uint64_t& total) {
  std::array<std::uint32_t, kCandidates> top{};
  total = 0;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    if (!is_plausible(seed)) continue;
    total += counts[seed];
    std::size_t at = kCandidates;
    while (at > 0 && counts[seed] >= counts[top[at - 1]]) --at;
    if (at == kCandidates) continue;
    std::copy_backward(top.begin() + at, top.end() - 1, top.end());
    top[at] = seed;
  }
  return top;
}

// A prefix tree of what follows a seed.
class Tree {
 public:
  template <class Iterator>
  void add(Iterator begin, Iterator end) {
    std::uint32_t node = 0;
    for (; begin != end && *begin != 'N'; ++begin) {
      const auto slot = static_cast<std::size_t>(*begin & 7);
      if (nodes_[node].child[slot] == 0) {
        nodes_[node].child[slot] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({*begin, 0, {}});
      }
      node = nodes_[node].child[slot];
      ++nodes_[node].count;
    }
  }

  // The path on which 95 % agree at every step. leaf: it ended for lack of reads, not of agreement.
  std::string dominant_path(bool& leaf) const {
    std::string path;
    for (const Node* node = &nodes_[0];;) {
      std::uint64_t total = 0;
      for (const std::uint32_t child : node->child)
        if (child != 0) total += nodes_[child].count;
      if (total < 50) return path;
      const Node* next = nullptr;
      for (const std::uint32_t child : node->child)
        if (next == nullptr && child != 0 &&
            nodes_[child].count / static_cast<double>(total) >= 0.95)
          next = &nodes_[child];
      if (next == nullptr) {
        leaf = false;
        return path;
      }
      path += next->base;
      node = next;
    }
  }

 private:
  struct Node {
    char base = 'N';
    std::uint32_t count = 0;
    std::array<std::uint32_t, 8> child{};  // index of the node, 0: none
  };
  std::vector<Node> nodes_{1};
};

// The known adapter that most reads hold, one base in 16 may differ, if they are enough.
std::string most_frequent_known(const ReadSample& reads) {
  constexpr std::size_t kMaxReads = 100000;
  constexpr std::size_t kMaxBases = kMaxReads * 1000;
  constexpr std::size_t kEnoughHits = 1000;
  constexpr std::size_t kShortest = 8;  // bases compared, one more
  const std::span<const std::string_view> adapters = known_adapters_of_fastp_1();
  std::vector<std::size_t> hits(adapters.size());
  std::vector<std::size_t> mismatches(adapters.size());
  std::size_t n_checked = 0;
  std::size_t n_bases = 0;
  std::size_t most = 0;
  for (std::size_t r = 0; r < reads.size(); ++r) {
    const std::string_view read = reads[r];
    ++n_checked;
    n_bases += read.size();
    if (n_checked > kMaxReads || n_bases > kMaxBases || most > kEnoughHits) break;
    for (std::size_t a = 0; a < adapters.size(); ++a) {
      const std::string_view adapter = adapters[a];
      if (adapter.size() >= read.size() || (most > 20 && hits[a] < most / 10)) continue;
      for (std::size_t pos = 0; pos + kShortest < read.size(); ++pos) {
        const std::size_t n = std::min(read.size() - pos, adapter.size());
        std::size_t different = 0;
        for (std::size_t i = 0; i < n && different <= n / 16; ++i)
          different += adapter[i] != read[pos + i];
        if (different > n / 16) continue;
        mismatches[a] += different;
        most = std::max(most, ++hits[a]);
        break;
      }
    }
  }
  const auto best =
      static_cast<std::size_t>(std::max_element(hits.begin(), hits.end()) - hits.begin());
  const bool often = hits[best] > n_checked / 50;
  const bool well = hits[best] > n_checked / 200 && mismatches[best] < n_checked;
  return often || well ? std::string(adapters[best]) : std::string();
}

std::string grow(const ReadSample& reads, std::uint32_t seed, int shift, bool of_fastp_1) {
  Tree forward;
  Tree backward;
  for (std::size_t r = 0; r < reads.size(); ++r) {
    const std::string_view read = reads[r];
    for_each_seed(read, shift, [&](int position, std::uint32_t found) {
      if (found != seed || (of_fastp_1 && position >= kLastSeedOfFastp1)) return;
      forward.add(read.begin() + position + kSeed, read.end() - shift);
      backward.add(read.rend() - position, read.rend());
    });
  }
  bool leaf = true;
  const std::string after = forward.dominant_path(leaf);
  std::string before = backward.dominant_path(leaf);
  std::reverse(before.begin(), before.end());
  std::string adapter = before + seed_text(seed) + after;
  if (adapter.size() > kLongest) adapter.resize(kLongest);
  const std::string_view known = known_adapter(adapter, of_fastp_1);
  if (!known.empty()) return std::string(known);
  return leaf ? adapter : std::string();
}

}  // namespace

std::string detect_adapter(const ReadSample& reads, int trim_tail, bool known_first) {
  if (reads.size() < kMinReads) return {};
  if (known_first) {
    std::string known = most_frequent_known(reads);
    if (known.size() > 8) return known;
  }
  const int shift = std::max(1, trim_tail);
  std::vector<std::uint32_t> counts(kSeeds);
  for (std::size_t r = 0; r < reads.size(); ++r)
    for_each_seed(reads[r], shift, [&](int, std::uint32_t seed) { ++counts[seed]; });
  counts[0] = 0;
  std::uint64_t total = 0;
  for (const std::uint32_t seed : most_frequent(counts, total)) {
    if (seed == 0) continue;
    const std::uint64_t count = counts[seed];
    if (count < 10 || count * kSeeds < total * 20) break;
    const std::string text = seed_text(seed);
    int n_changes = 0;
    for (std::size_t i = 1; i < text.size(); ++i) n_changes += text[i] != text[i - 1];
    if (n_changes < 3) continue;
    std::string adapter = grow(reads, seed, shift, known_first);
    if (!adapter.empty()) return adapter;
  }
  return {};
}

}  // namespace biogpu::qc
