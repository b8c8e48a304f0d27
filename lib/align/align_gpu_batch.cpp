#include "lib/align/align_gpu_batch.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cstring>

#include "lib/align/align_gpu_rows.hpp"
#include "lib/align/border.hpp"

namespace biogpu::align {
namespace {

namespace cells = biogpu::gpu::align;

// Pairs that a batch takes at most: above this it gains nothing and takes long to fill.
constexpr std::size_t kMostPairs = std::size_t{1} << 17;
// A pair of more cells is worth all multiprocessors; one group of lanes would take seconds.
constexpr std::uint64_t kLongCells = std::uint64_t{1} << 28;
// Residues that a thread copies at a time.
constexpr std::uint64_t kCopyChunk = std::uint64_t{1} << 18;
// Device memory of a place in a batch that holds no pair.
constexpr std::uint64_t kBytesOfPlace =
    sizeof(cells::PairTask) + sizeof(cells::PairEnd) + sizeof(cells::PairPath);

bool holds_four_letters(std::span<const std::uint8_t> residues) {
  std::uint8_t highest = 0;
  for (const std::uint8_t residue : residues) highest = std::max(highest, residue);
  return highest < 4;
}

void add(cells::BatchExtents& sum, const cells::BatchExtents& more) {
  sum.residues += more.residues;
  sum.borders += more.borders;
  sum.trace += more.trace;
  sum.runs += more.runs;
}

// Turns the sums of chunks into what lies before each; returns the sum of all.
cells::BatchExtents sum_before(std::vector<cells::BatchExtents>& chunks) {
  cells::BatchExtents sum;
  for (cells::BatchExtents& chunk : chunks) {
    const cells::BatchExtents own = chunk;
    chunk = sum;
    add(sum, own);
  }
  return sum;
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
  for_chunks(yes_.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      yes_[i] = holds_four_letters(work.targets.sequence(i)) ? 1 : 0;
  });
}

std::uint64_t planned_bytes(std::uint64_t m, std::uint64_t n, const cells::KernelChoice& kernel,
                            const cells::BatchSettings& settings) {
  if (m * n >= kLongCells) return ~std::uint64_t{0};
  return cells::pair_bytes(static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), kernel,
                           settings);
}

void BatchWork::plan_pair(PlannedPair& pair, std::uint64_t& bytes,
                          const FourLetters& four_letters) const {
  const Pair& sequences = work_.pairs[pair.index];
  const std::uint64_t m = work_.queries.length(sequences.query);
  const std::uint64_t n = work_.targets.length(sequences.target);
  bytes = 0;
  if (m == 0 || n == 0) return;
  pair.kernel = cells::choose_kernel(static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                                     four_letters(sequences.target), settings_);
  bytes = planned_bytes(m, n, pair.kernel, settings_);
  const auto kind = static_cast<std::uint64_t>(pair.kernel.shape + (pair.kernel.packed ? 8 : 0));
  pair.key = kind << 60 | static_cast<std::uint64_t>(pair.kernel.n_tiles) << 30 | n;
}

void BatchWork::plan(std::size_t first, std::uint64_t max_bytes, const FourLetters& four_letters) {
  const std::size_t n = std::min(kMostPairs, work_.pairs.size() - first);
  pairs_.resize(n);
  empty_.clear();
  std::vector<std::uint64_t> bytes(n);
  for_chunks(n, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      pairs_[i].index = static_cast<std::uint32_t>(first + i);
      plan_pair(pairs_[i], bytes[i], four_letters);
    }
  });
  bytes_ = 0;
  std::size_t taken = 0, kept = 0;
  for (; taken < n; ++taken) {
    if (bytes[taken] == 0) {
      empty_.push_back(pairs_[taken].index);
      continue;
    }
    if (bytes[taken] > max_bytes - bytes_) break;
    bytes_ += bytes[taken];
    if (kept != taken) pairs_[kept] = pairs_[taken];
    ++kept;
  }
  pairs_.resize(kept);
  first_ = first;
  last_ = first + taken;
  sort();
}

void BatchWork::sort() {
  const auto before = [](const PlannedPair& a, const PlannedPair& b) {
    return a.key != b.key ? a.key > b.key : a.index < b.index;  // the longest first
  };
  if (!std::is_sorted(pairs_.begin(), pairs_.end(), before))
    tbb::parallel_sort(pairs_.begin(), pairs_.end(), before);
  separate_tiles();
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

// Sequences that lie together are copied together, unless that copies more than is needed.
BatchWork::Side BatchWork::plan_side(bool query) const {
  const SequenceSet& set = set_of(query);
  struct Sum {
    std::uint32_t first = ~0u, last = 0;
    std::uint64_t residues = 0;
  };
  std::vector<Sum> sums(count_chunks(pairs_.size()));
  for_chunks(pairs_.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    Sum sum;
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_pair(i)) continue;
      const std::uint32_t number = number_of(pair_of(i), query);
      sum.first = std::min(sum.first, number);
      sum.last = std::max(sum.last, number + 1);
      sum.residues += set.length(number);
    }
    sums[chunk] = sum;
  });
  Side side;
  Sum all;
  for (const Sum& sum : sums) {
    all.first = std::min(all.first, sum.first);
    all.last = std::max(all.last, sum.last);
    all.residues += sum.residues;
  }
  side.first = all.first;
  side.last = all.last;
  const std::uint64_t whole = set.begin[all.last] - set.begin[all.first];
  side.whole = whole <= all.residues;
  side.residues = std::min(whole, all.residues);
  return side;
}

std::uint64_t BatchWork::bytes_of(std::size_t i, const Side& side, bool query) const {
  return side.whole ? 0 : set_of(query).length(number_of(pair_of(i), query));
}

// What pair i adds to the batch besides its residues.
cells::BatchExtents BatchWork::place(std::size_t i, bool shares_trace) const {
  const cells::KernelChoice& kernel = pairs_[i].kernel;
  const std::uint64_t m = work_.queries.length(pair_of(i).query);
  const std::uint64_t n = work_.targets.length(pair_of(i).target);
  cells::BatchExtents more;
  if (kernel.n_tiles > 1) more.borders = n;
  if (settings_.with_runs) more.runs = m + n;
  if (!settings_.with_path || shares_trace) return more;
  const auto rows = static_cast<std::int64_t>(m), columns = static_cast<std::int64_t>(n);
  more.trace = kernel.packed ? cells::count_packed_trace_words(kernel.group(), rows, columns)
                             : cells::count_trace_words(kernel.group(), rows, columns);
  return more;
}

void BatchWork::copy_whole(std::uint8_t* to, const Side& side, bool query) const {
  if (!side.whole || side.residues == 0) return;
  const SequenceSet& set = set_of(query);
  const std::uint8_t* const from = set.residues.data() + set.begin[side.first];
  const std::uint64_t n_chunks = (side.residues + kCopyChunk - 1) / kCopyChunk;
  tbb::parallel_for(std::uint64_t{0}, n_chunks, [&](std::uint64_t chunk) {
    const std::uint64_t begin = chunk * kCopyChunk;
    std::memcpy(to + begin, from + begin, std::min(kCopyChunk, side.residues - begin));
  });
}

void BatchWork::fill(cells::PairBatch& batch) {
  const Side query = plan_side(true), target = plan_side(false);
  const auto segment_of = [&](std::size_t i) {
    return std::prev(std::upper_bound(
        segments_.begin(), segments_.end(), i,
        [](std::size_t at, const cells::BatchSegment& segment) { return at < segment.first; }));
  };
  // visit(i, what lies before it) in order, for the pairs of a chunk.
  const auto walk = [&](std::size_t begin, std::size_t end, cells::BatchExtents at,
                        const auto& visit) {
    auto segment = segment_of(begin);
    for (std::size_t i = begin; i < end; ++i) {
      if (i >= segment->first + segment->n) ++segment;
      if (!is_pair(i)) {
        visit(i, at);
        continue;
      }
      const bool shares = segment->kernel.packed && (i - segment->first) % 2 == 1;
      cells::BatchExtents more = place(i, shares);
      more.residues = bytes_of(i, query, true) + bytes_of(i, target, false);
      visit(i, at);
      add(at, more);
    }
    return at;
  };
  std::vector<cells::BatchExtents> chunks(count_chunks(pairs_.size()));
  for_chunks(pairs_.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    chunks[chunk] = walk(begin, end, {}, [](std::size_t, const cells::BatchExtents&) {});
  });
  cells::BatchExtents all = sum_before(chunks);
  const std::uint64_t whole_query = all.residues;  // behind what is gathered
  if (query.whole) all.residues += query.residues;
  const std::uint64_t whole_target = all.residues;
  if (target.whole) all.residues += target.residues;
  batch.begin(pairs_.size(), all);
  std::uint8_t* const residues = batch.residues();
  for_chunks(pairs_.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    walk(begin, end, chunks[chunk], [&](std::size_t i, const cells::BatchExtents& at) {
      if (!is_pair(i)) {
        batch.tasks()[i] = {};
        return;
      }
      const Pair& pair = pair_of(i);
      const auto q = work_.queries.sequence(pair.query), t = work_.targets.sequence(pair.target);
      std::uint64_t gathered = at.residues;
      const auto place_side = [&](const Side& side, std::span<const std::uint8_t> sequence,
                                  std::uint64_t whole, std::uint64_t in_set) {
        if (side.whole) return whole + in_set;
        std::memcpy(residues + gathered, sequence.data(), sequence.size());
        gathered += sequence.size();
        return gathered - sequence.size();
      };
      cells::PairTask task;
      task.query = place_side(query, q, whole_query,
                              work_.queries.begin[pair.query] - work_.queries.begin[query.first]);
      task.target =
          place_side(target, t, whole_target,
                     work_.targets.begin[pair.target] - work_.targets.begin[target.first]);
      task.border = at.borders;
      task.trace = at.trace;
      task.runs = at.runs;
      task.n_rows = static_cast<std::int32_t>(q.size());
      task.n_columns = static_cast<std::int32_t>(t.size());
      batch.tasks()[i] = task;
    });
  });
  copy_whole(residues + whole_query, query, true);
  copy_whole(residues + whole_target, target, false);
}

void BatchWork::submit(cells::PairBatch& batch) {
  if (pairs_.empty()) return;
  fill(batch);
  batch.submit(segments_);
}

void BatchWork::collect(cells::PairBatch& batch, Alignments& all) {
  if (!pairs_.empty()) {
    batch.collect();
    for_chunks(pairs_.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
      static constexpr cells::PairPath kNoPath = {};
      for (std::size_t i = begin; i < end; ++i) {
        if (!is_pair(i)) continue;
        set_gpu_row(options_, all.rows[pairs_[i].index], batch.ends()[i],
                    settings_.with_path ? batch.paths()[i] : kNoPath);
      }
    });
  }
  std::vector<std::uint32_t> runs_of_empty;
  for (const std::uint32_t index : empty_) {
    const Pair& pair = work_.pairs[index];
    Alignment& row = all.rows[index];
    row = align_empty(options_, static_cast<std::int64_t>(work_.queries.length(pair.query)),
                      static_cast<std::int64_t>(work_.targets.length(pair.target)), runs_of_empty);
  }
  if (options_.output != Output::cigar) return;
  if (empty_.empty())
    return append_paths(pairs_.empty() ? runs_of_empty : batch.runs(), first_, last_, all);
  std::vector<std::uint32_t> runs;
  if (!pairs_.empty()) runs.assign(batch.runs().begin(), batch.runs().end());
  for (const std::uint32_t index : empty_) all.rows[index].cigar_begin += runs.size();
  runs.insert(runs.end(), runs_of_empty.begin(), runs_of_empty.end());
  append_paths(runs, first_, last_, all);
}

}  // namespace biogpu::align
