// Planning of a batch: which pairs it takes, by which kernels, in which order.
#include <tbb/parallel_sort.h>

#include <algorithm>

#include "lib/align/gpu/pair_batch_gpu.hpp"
#include "lib/align/gpu/rows_gpu.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::align {
namespace {

namespace kernels = biogpu::gpu::align;

// Pairs that a batch takes at most: above this it gains nothing and takes long to fill.
constexpr std::size_t kMaxPairs = std::size_t{1} << 17;
// A batch is planned from a window of pairs: what is left out is looked at again for the next one,
// so the window starts at twice what the batch took last and grows only where all of it fits.
constexpr std::size_t kMinWindow = 64;
constexpr std::size_t kWindowOfLast = 2;
constexpr std::size_t kWindowGrowth = 4;
// A pair of more cells is worth all multiprocessors; one group of lanes would take seconds.
constexpr std::uint64_t kLongCells = std::uint64_t{1} << 28;
// Device memory of a place in a batch that holds no pair.
constexpr std::uint64_t kBytesOfPlace =
    sizeof(kernels::PairTask) + sizeof(kernels::PairEnd) + sizeof(kernels::PairPath);

bool holds_four_letters(std::span<const std::uint8_t> residues) {
  std::uint8_t highest = 0;
  for (const std::uint8_t residue : residues) highest = std::max(highest, residue);
  return highest < 4;
}

}  // namespace

FourLetters::FourLetters(const Work& work, bool wanted) {
  if (!wanted) return;
  yes_.resize(work.targets.size());
  // Where few of many targets are used, those alone are looked at, each time one is met.
  if (work.pairs.size() < work.targets.size() / 4) {
    for (const Pair& pair : work.pairs)
      yes_[pair.target] = holds_four_letters(work.targets.sequence(pair.target)) ? 1 : 0;
    return;
  }
  parallel_for_chunks(yes_.size(), kPairsOfChunk,
                      [&](std::size_t, std::size_t begin, std::size_t end) {
                        for (std::size_t i = begin; i < end; ++i)
                          yes_[i] = holds_four_letters(work.targets.sequence(i)) ? 1 : 0;
                      });
}

std::uint64_t planned_bytes(std::uint64_t m, std::uint64_t n, const kernels::KernelChoice& kernel,
                            const kernels::BatchSettings& settings) {
  if (m * n >= kLongCells) return ~std::uint64_t{0};
  return kernels::pair_bytes(static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), kernel,
                             settings);
}

void BatchWork::plan_pair(PlannedPair& pair, std::uint64_t& bytes, std::uint64_t m, std::uint64_t n,
                          bool four_letters) const {
  bytes = 0;
  if (m == 0 || n == 0) return;
  pair.kernel = kernels::choose_kernel(static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                                       four_letters, settings_);
  bytes = planned_bytes(m, n, pair.kernel, settings_);
  const auto kind = static_cast<std::uint64_t>(pair.kernel.shape + (pair.kernel.packed ? 8 : 0));
  pair.key = kind << 60 | static_cast<std::uint64_t>(pair.kernel.n_tiles) << 30 | n;
}

BatchWork::Chunk BatchWork::plan_chunk(std::size_t begin, std::size_t end, std::uint64_t max_bytes,
                                       const FourLetters& four_letters) {
  Chunk chunk;
  // Neighbours are often alike, as reads of one length are, and choosing costs more than comparing.
  std::uint64_t last_m = 0, last_n = 0;
  bool last_four = false;
  for (std::size_t i = begin; i < end; ++i) {
    const Pair& sequences = work_.pairs[first_ + i];
    const std::uint64_t m = work_.queries.length(sequences.query);
    const std::uint64_t n = work_.targets.length(sequences.target);
    const bool four = four_letters(sequences.target);
    PlannedPair& pair = pairs_[i];
    if (i > begin && m == last_m && n == last_n && four == last_four) {
      pair = pairs_[i - 1];
      bytes_of_[i] = bytes_of_[i - 1];
    } else {
      plan_pair(pair, bytes_of_[i], m, n, four);
    }
    pair.index = static_cast<std::uint32_t>(first_ + i);
    last_m = m;
    last_n = n;
    last_four = four;
    chunk.none_empty = chunk.none_empty && bytes_of_[i] > 0;
    chunk.all_fit = chunk.all_fit && bytes_of_[i] <= max_bytes;
    if (chunk.all_fit) chunk.bytes += bytes_of_[i];
    chunk.in_order = chunk.in_order && (i == begin || pairs_[i - 1].key >= pair.key);
  }
  return chunk;
}

void BatchWork::plan(std::size_t first, std::uint64_t max_bytes, const FourLetters& four_letters) {
  const std::size_t most = std::min(kMaxPairs, work_.pairs.size() - first);
  std::size_t window = std::max(kMinWindow, kWindowOfLast * (last_ - first_));
  first_ = first;
  empty_.clear();
  Chunk all;
  std::size_t n = 0;
  do {
    const std::size_t begin = n;
    n = std::min(window, most);
    plan_window(begin, n, max_bytes, four_letters, all);
    window *= kWindowGrowth;
  } while (n < most && all.all_fit && all.bytes <= max_bytes);
  bytes_ = all.bytes;
  last_ = first + n;
  // Pair by pair, by one thread, only where that may leave some out: it takes longer than the rest.
  if (!all.none_empty || !all.all_fit || all.bytes > max_bytes) {
    last_ = first + keep_what_fits(max_bytes);
    all.in_order = false;
  }
  sort(all.in_order);
}

// Plans pairs [begin, end) behind those planned before, of which `all` knows.
void BatchWork::plan_window(std::size_t begin, std::size_t end, std::uint64_t max_bytes,
                            const FourLetters& four_letters, Chunk& all) {
  pairs_.resize(end);
  bytes_of_.resize(end);
  std::vector<Chunk> chunks(count_chunks(end - begin, kPairsOfChunk));
  parallel_for_chunks(
      end - begin, kPairsOfChunk, [&](std::size_t chunk, std::size_t from, std::size_t to) {
        chunks[chunk] = plan_chunk(begin + from, begin + to, max_bytes, four_letters);
      });
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::size_t at = begin + i * kPairsOfChunk;
    all.bytes += chunks[i].bytes;
    all.none_empty = all.none_empty && chunks[i].none_empty;
    all.all_fit = all.all_fit && chunks[i].all_fit;
    all.in_order =
        all.in_order && chunks[i].in_order && (at == 0 || pairs_[at - 1].key >= pairs_[at].key);
  }
}

// Returns how many pairs are taken, the empty ones among them.
std::size_t BatchWork::keep_what_fits(std::uint64_t max_bytes) {
  bytes_ = 0;
  std::size_t taken = 0, kept = 0;
  for (; taken < pairs_.size(); ++taken) {
    if (bytes_of_[taken] == 0) {
      empty_.push_back(pairs_[taken].index);
      continue;
    }
    if (bytes_of_[taken] > max_bytes - bytes_) break;
    bytes_ += bytes_of_[taken];
    if (kept != taken) pairs_[kept] = pairs_[taken];
    ++kept;
  }
  pairs_.resize(kept);
  return taken;
}

// in_order: they are known to lie as they should.
void BatchWork::sort(bool in_order) {
  const auto before = [](const PlannedPair& a, const PlannedPair& b) {
    return a.key != b.key ? a.key > b.key : a.index < b.index;  // the longest first
  };
  if (!in_order && !std::is_sorted(pairs_.begin(), pairs_.end(), before))
    tbb::parallel_sort(pairs_.begin(), pairs_.end(), before);
  if (!pairs_.empty() && pairs_.front().key != pairs_.back().key) separate_tiles();
  segments_.clear();
  for (auto from = pairs_.begin(); from != pairs_.end();) {
    const std::uint64_t kind = from->key >> 60;
    const auto to = std::partition_point(
        from, pairs_.end(), [&](const PlannedPair& pair) { return pair.key >> 60 >= kind; });
    segments_.push_back({static_cast<std::size_t>(from - pairs_.begin()),
                         static_cast<std::size_t>(to - from), from->kernel});
    from = to;
  }
}

// The packed kernels want two neighbours of the same number of tiles: where that number changes
// between two neighbours, the first stays alone.
void BatchWork::separate_tiles() {
  std::vector<PlannedPair> apart;
  std::size_t begin = 0;  // of the kind
  std::size_t copied = 0;
  for (std::size_t i = 1; i < pairs_.size(); ++i) {
    const PlannedPair &last = pairs_[i - 1], &next = pairs_[i];
    if (next.key >> 60 != last.key >> 60) {
      begin = i + (apart.size() - copied);
      continue;
    }
    const std::size_t place = i + (apart.size() - copied);
    if (!next.kernel.packed || next.key >> 30 == last.key >> 30 || (place - begin) % 2 == 0)
      continue;
    apart.insert(apart.end(), pairs_.begin() + static_cast<std::ptrdiff_t>(copied),
                 pairs_.begin() + static_cast<std::ptrdiff_t>(i));
    apart.push_back({last.key, kNoPair, last.kernel});
    copied = i;
  }
  if (apart.empty()) return;
  apart.insert(apart.end(), pairs_.begin() + static_cast<std::ptrdiff_t>(copied), pairs_.end());
  bytes_ += (apart.size() - pairs_.size()) * kBytesOfPlace;
  pairs_.swap(apart);
}

}  // namespace biogpu::align
