#include "lib/align/gpu/pair_batch_gpu.hpp"

#include <algorithm>

#include "lib/align/border.hpp"
#include "lib/align/gpu/rows_gpu.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::align {
namespace {

namespace kernels = biogpu::gpu::align;

// Residues that a thread copies at a time.
constexpr std::size_t kCopyChunk = std::size_t{1} << 18;

void add(kernels::BatchExtents& sum, const kernels::BatchExtents& more) {
  sum.residues += more.residues;
  sum.borders += more.borders;
  sum.trace += more.trace;
  sum.runs += more.runs;
}

// Turns the sums of chunks into what lies before each; returns the sum of all.
kernels::BatchExtents sum_before(std::vector<kernels::BatchExtents>& chunks) {
  kernels::BatchExtents sum;
  for (kernels::BatchExtents& chunk : chunks) {
    const kernels::BatchExtents own = chunk;
    chunk = sum;
    add(sum, own);
  }
  return sum;
}

}  // namespace

// Sequences that lie together are copied together, unless that copies more than is needed.
BatchWork::Side BatchWork::plan_side(bool query) const {
  const SequenceSet& set = set_of(query);
  struct Sum {
    std::uint32_t first = ~0u, last = 0;
    std::uint64_t residues = 0;
  };
  std::vector<Sum> sums(count_chunks(pairs_.size(), kPairsOfChunk));
  parallel_for_chunks(pairs_.size(), kPairsOfChunk,
                      [&](std::size_t chunk, std::size_t begin, std::size_t end) {
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
kernels::BatchExtents BatchWork::place(std::size_t i, bool shares_trace) const {
  const kernels::KernelChoice& kernel = pairs_[i].kernel;
  const std::uint64_t m = work_.queries.length(pair_of(i).query);
  const std::uint64_t n = work_.targets.length(pair_of(i).target);
  kernels::BatchExtents more;
  if (kernel.n_tiles > 1) more.borders = n;
  if (settings_.with_runs) more.runs = m + n;
  if (!settings_.with_path || shares_trace) return more;
  const auto rows = static_cast<std::int64_t>(m), columns = static_cast<std::int64_t>(n);
  more.trace = kernel.packed ? kernels::count_packed_trace_words(kernel.group(), rows, columns)
                             : kernels::count_trace_words(kernel.group(), rows, columns);
  return more;
}

void BatchWork::copy_whole(std::uint8_t* to, const Side& side, bool query) const {
  if (!side.whole || side.residues == 0) return;
  const SequenceSet& set = set_of(query);
  const std::uint8_t* const from = set.residues.data() + set.begin[side.first];
  parallel_copy_chunks(to, from, side.residues, kCopyChunk);
}

void BatchWork::fill(kernels::PairBatch& batch) {
  const Side query = plan_side(true), target = plan_side(false);
  const auto segment_of = [&](std::size_t i) {
    return std::prev(std::upper_bound(
        segments_.begin(), segments_.end(), i,
        [](std::size_t at, const kernels::BatchSegment& segment) { return at < segment.first; }));
  };
  // for_pairs: visit(i, what lies before it) in order, for the pairs of a chunk.
  const auto for_pairs = [&](std::size_t begin, std::size_t end, kernels::BatchExtents at,
                             const auto& visit) {
    auto segment = segment_of(begin);
    for (std::size_t i = begin; i < end; ++i) {
      if (i >= segment->first + segment->n) ++segment;
      if (!is_pair(i)) {
        visit(i, at);
        continue;
      }
      const bool shares = segment->kernel.packed && (i - segment->first) % 2 == 1;
      kernels::BatchExtents more = place(i, shares);
      more.residues = bytes_of(i, query, true) + bytes_of(i, target, false);
      visit(i, at);
      add(at, more);
    }
    return at;
  };
  std::vector<kernels::BatchExtents> chunks(count_chunks(pairs_.size(), kPairsOfChunk));
  parallel_for_chunks(
      pairs_.size(), kPairsOfChunk, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        chunks[chunk] = for_pairs(begin, end, {}, [](std::size_t, const kernels::BatchExtents&) {});
      });
  kernels::BatchExtents all = sum_before(chunks);
  const std::uint64_t whole_query = all.residues;  // behind what is gathered
  if (query.whole) all.residues += query.residues;
  const std::uint64_t whole_target = all.residues;
  if (target.whole) all.residues += target.residues;
  batch.begin(pairs_.size(), all);
  std::uint8_t* const residues = batch.residues();
  parallel_for_chunks(
      pairs_.size(), kPairsOfChunk, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        for_pairs(begin, end, chunks[chunk], [&](std::size_t i, const kernels::BatchExtents& at) {
          if (!is_pair(i)) {
            batch.tasks()[i] = {};
            return;
          }
          const Pair& pair = pair_of(i);
          const auto q = work_.queries.sequence(pair.query),
                     t = work_.targets.sequence(pair.target);
          std::uint64_t gathered = at.residues;
          const auto place_side = [&](const Side& side, std::span<const std::uint8_t> sequence,
                                      std::uint64_t whole, std::uint64_t in_set) {
            if (side.whole) return whole + in_set;
            std::memcpy(residues + gathered, sequence.data(), sequence.size());
            gathered += sequence.size();
            return gathered - sequence.size();
          };
          kernels::PairTask task;
          task.query =
              place_side(query, q, whole_query,
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

void BatchWork::submit(kernels::PairBatch& batch) {
  if (pairs_.empty()) return;
  fill(batch);
  batch.submit(segments_);
}

void BatchWork::collect(kernels::PairBatch& batch, Alignments& all) {
  if (!pairs_.empty()) {
    batch.collect();
    parallel_for_chunks(pairs_.size(), kPairsOfChunk,
                        [&](std::size_t, std::size_t begin, std::size_t end) {
                          static constexpr kernels::PairPath kNoPath = {};
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
