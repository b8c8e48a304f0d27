#include "apps/biogpu/align/compute/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/timed.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::app {
namespace {

using align::Hit;
using align::Pair;

// Above this many cells a pair is worth all threads.
constexpr std::uint64_t kHugePair = 1u << 29;

std::uint64_t longest(const align::SequenceSet& set) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < set.size(); ++i) length = std::max(length, set.length(i));
  return length;
}

}  // namespace

// Pairs of sequences of WorkItem::queries with targets; scores only where they are known already.
struct AlignCompute::SelectedPairs {
  std::vector<Pair> pairs;
  std::vector<align::Alignment> scores;
};

AlignCompute::AlignCompute(AlignBackend& backend, const RowStyle& style, const Selection& selection,
                           const EncodedSet* held, const UnitReader& reader, int n_threads)
    : backend_(backend),
      style_(style),
      selection_(selection),
      encoder_(style.options.scoring.class_of),
      held_(held),
      reader_(reader),
      int32_check_(style.options),
      longest_held_(held != nullptr ? longest(held->view()) : 0),
      n_threads_(n_threads) {}

ComputeTimes AlignCompute::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

void AlignCompute::compute(WorkItem& item) {
  ComputeTimes spent;
  timed(spent.encode_s, [&] { encode(item); });
  require_int32(item);
  SelectedPairs selected = timed(spent.select_s, [&] { return select(item); });
  align::Alignments& alignments = alignments_.acquire();
  timed(spent.align_s, [&] { alignments = align_selected(item, selected, std::move(alignments)); });
  timed(spent.format_s, [&] {
    make_rows({item.unit, item.queries, selected.pairs, alignments}, style_, item.rows);
  });
  alignments_.release(alignments);
  const std::lock_guard lock(mutex_);
  times_.encode_s += spent.encode_s;
  times_.select_s += spent.select_s;
  times_.align_s += spent.align_s;
  times_.format_s += spent.format_s;
}

void AlignCompute::encode(WorkItem& item) const {
  const WorkUnit& unit = item.unit;
  item.queries.assign(unit.queries, encoder_, selection_.strand != Strand::forward);
  if (held_ == nullptr) item.targets.assign(unit.targets, encoder_);
}

// The aligners check the range too, but know neither files nor records.
void AlignCompute::require_int32(const WorkItem& item) const {
  const RecordSpan& queries = item.unit.queries;
  const align::SequenceSet set = targets(item);
  const auto require = [&](std::size_t query, std::size_t target) {
    const std::uint64_t query_length = queries.sequence(query).size();
    if (int32_check_.fits(query_length, set.length(target))) return;
    throw Error(
        ErrorCode::failed,
        fmt::format("{}: record {} has {} residues, record {} of {} has {}: with these scores and "
                    "costs theirs could leave the 32-bit range; expected shorter sequences, or "
                    "smaller scores and costs",
                    io::input::label_of(reader_.query_reader().path()), queries.index(query) + 1,
                    query_length, item.unit.targets.index(target) + 1,
                    io::input::label_of(reader_.target_reader().path()), set.length(target)));
  };
  const std::uint64_t longest_target = held_ != nullptr ? longest_held_ : longest(set);
  if (int32_check_.fits(longest(item.queries.view()), longest_target)) return;
  for (const Pair& pair : item.unit.pairs) require(pair.query, pair.target);
  if (!selection_.search) return;
  for (std::size_t query = 0; query < queries.size(); ++query)
    for (std::size_t target = 0; target < set.size(); ++target) require(query, target);
}

align::SequenceSet AlignCompute::targets(const WorkItem& item) const {
  return held_ != nullptr ? held_->view() : item.targets.view();
}

int AlignCompute::threads_for(std::size_t n_pairs, std::uint64_t n_cells) const {
  return selection_.search || (n_pairs > 0 && n_cells / n_pairs > kHugePair) ? n_threads_ : 1;
}

AlignCompute::SelectedPairs AlignCompute::select(WorkItem& item) {
  if (selection_.search) return select_by_search(item);
  if (selection_.by_score()) return select_by_score(item);
  SelectedPairs selected{item.unit.pairs, {}};
  if (selection_.strand == Strand::reverse)
    for (Pair& pair : selected.pairs)
      pair.query += static_cast<std::uint32_t>(item.unit.queries.size());
  item.n_pairs = selected.pairs.size();
  item.n_cells = align::count_cells({item.queries.view(), targets(item), selected.pairs});
  return selected;
}

// The least score that a row of this pair may have.
std::int32_t AlignCompute::min_score(const WorkItem& item, std::uint32_t sequence,
                                     std::uint32_t target) const {
  std::int32_t least = selection_.min_score.value_or(std::numeric_limits<std::int32_t>::min());
  if (!selection_.max_evalue || !style_.parameters) return least;
  const align::Database database =
      style_.database.value_or(align::Database{targets(item).length(target), 1});
  return std::max(least, align::min_score_for(*style_.parameters, *selection_.max_evalue,
                                              item.queries.view().length(sequence), database));
}

AlignCompute::SelectedPairs AlignCompute::select_by_score(WorkItem& item) {
  const auto n_queries = static_cast<std::uint32_t>(item.unit.queries.size());
  const bool both = selection_.strand == Strand::both;
  std::vector<Pair> pairs;
  for (const Pair& pair : item.unit.pairs) {
    if (selection_.strand != Strand::reverse) pairs.push_back(pair);
    if (selection_.strand != Strand::forward)
      pairs.push_back({pair.query + n_queries, pair.target});
  }
  const align::Work work{item.queries.view(), targets(item), pairs};
  item.n_pairs = item.unit.pairs.size();
  item.n_cells = align::count_cells(work);
  const align::Alignments scored = backend_.score(work, threads_for(pairs.size(), item.n_cells));
  SelectedPairs selected;
  const std::size_t step = both ? 2 : 1;
  for (std::size_t i = 0; i < pairs.size(); i += step) {
    const std::size_t best = i + (both && scored.rows[i + 1].score > scored.rows[i].score ? 1 : 0);
    if (scored.rows[best].score < min_score(item, pairs[best].query, pairs[best].target)) continue;
    selected.pairs.push_back(pairs[best]);
    selected.scores.push_back(scored.rows[best]);
  }
  return selected;
}

AlignCompute::SelectedPairs AlignCompute::select_by_search(WorkItem& item) {
  // Without the forward strand only the second half of the sequences is searched for.
  const align::SequenceSet all = item.queries.view();
  const auto n_queries = static_cast<std::uint32_t>(item.unit.queries.size());
  const std::uint32_t skipped = selection_.strand == Strand::reverse ? n_queries : 0;
  const align::SequenceSet queries{all.residues, all.begin.subspan(skipped)};
  const align::Hits hits = backend_.search(queries, n_threads_);
  item.n_pairs = n_queries * targets(item).size();
  item.n_cells = (queries.begin.back() - queries.begin.front()) * targets(item).residues.size();
  const std::uint64_t first_query = n_queries > 0 ? item.unit.queries.index(0) : 0;
  SelectedPairs selected;
  std::vector<std::pair<Hit, std::uint32_t>> found;  // with the sequence that found it
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (std::uint32_t query = 0; query < n_queries; ++query) {
    found.clear();
    place.clear();
    for (std::uint32_t sequence = query; sequence < hits.n_queries(); sequence += n_queries)
      for (const Hit& hit : hits.of(sequence)) {
        if (selection_.not_itself && hit.target == first_query + query) continue;
        const auto [at, is_new] = place.try_emplace(hit.target, found.size());
        if (is_new)
          found.emplace_back(hit, sequence + skipped);
        else if (hit.score > found[at->second].first.score)
          found[at->second] = {hit, sequence + skipped};
      }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    if (selection_.top > 0 && found.size() > selection_.top) found.resize(selection_.top);
    for (const auto& [hit, sequence] : found) {
      if (hit.score < min_score(item, sequence, hit.target)) continue;
      selected.pairs.push_back({sequence, hit.target});
      selected.scores.push_back({.score = hit.score});
    }
  }
  return selected;
}

align::Alignments AlignCompute::align_selected(WorkItem& item, SelectedPairs& selected,
                                               align::Alignments spare) {
  if (style_.output == align::Output::score && !selected.scores.empty()) {
    return {std::move(selected.scores), {}};
  }
  if (selected.pairs.empty()) return {};
  const align::Work work{item.queries.view(), targets(item), selected.pairs};
  return backend_.align(work, threads_for(selected.pairs.size(), align::count_cells(work)),
                        std::move(spare));
}

align::SearchOptions search_options(const Selection& selection, const align::Options& options) {
  align::SearchOptions search;
  search.top = selection.top;
  if (selection.top > 0 && selection.not_itself) ++search.top;
  const std::int32_t least =
      options.mode == align::Mode::local ? 1 : std::numeric_limits<std::int32_t>::min();
  search.min_score = std::max(least, selection.min_score.value_or(least));
  return search;
}

}  // namespace biogpu::app
