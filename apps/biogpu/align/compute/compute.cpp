#include "apps/biogpu/align/compute/compute.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "lib/core/timed.hpp"

namespace biogpu::app {
namespace {

using align::Hit;
using align::Pair;

// Above this many cells a pair is worth all threads.
constexpr std::uint64_t kHugePair = 1u << 29;

}  // namespace

// Pairs of sequences of Item::queries with targets; scores only where they are known already.
struct AlignCompute::Chosen {
  std::vector<Pair> pairs;
  std::vector<align::Alignment> scores;
};

AlignCompute::AlignCompute(AlignBackend& backend, const RowStyle& style, const Selection& selection,
                           const EncodedSet* held, int n_threads)
    : backend_(backend),
      style_(style),
      selection_(selection),
      encoder_(style.options.scoring.class_of),
      held_(held),
      n_threads_(n_threads) {}

ComputeTimes AlignCompute::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

void AlignCompute::compute(Item& item) {
  ComputeTimes spent;
  timed(spent.encode_s, [&] { encode(item); });
  Chosen chosen = timed(spent.select_s, [&] { return choose(item); });
  align::Alignments& alignments = alignments_.acquire();
  timed(spent.align_s, [&] { alignments = align_chosen(item, chosen, std::move(alignments)); });
  timed(spent.format_s, [&] {
    make_rows({item.unit, item.queries, chosen.pairs, alignments}, style_, item.rows);
  });
  alignments_.release(alignments);
  const std::lock_guard lock(mutex_);
  times_.encode_s += spent.encode_s;
  times_.select_s += spent.select_s;
  times_.align_s += spent.align_s;
  times_.format_s += spent.format_s;
}

void AlignCompute::encode(Item& item) const {
  const Unit& unit = item.unit;
  item.queries.assign(unit.queries, encoder_, selection_.strand != Strand::forward);
  if (held_ == nullptr) item.targets.assign(unit.targets, encoder_);
}

align::SequenceSet AlignCompute::targets(const Item& item) const {
  return held_ != nullptr ? held_->view() : item.targets.view();
}

int AlignCompute::threads_for(std::size_t n_pairs, std::uint64_t n_cells) const {
  return selection_.search || (n_pairs > 0 && n_cells / n_pairs > kHugePair) ? n_threads_ : 1;
}

AlignCompute::Chosen AlignCompute::choose(Item& item) {
  if (selection_.search) return choose_of_search(item);
  if (selection_.by_score()) return choose_by_score(item);
  Chosen chosen{item.unit.pairs, {}};
  if (selection_.strand == Strand::reverse)
    for (Pair& pair : chosen.pairs)
      pair.query += static_cast<std::uint32_t>(item.unit.queries.size());
  item.n_pairs = chosen.pairs.size();
  item.n_cells = align::count_cells({item.queries.view(), targets(item), chosen.pairs});
  return chosen;
}

// The least score that a row of this pair may have.
std::int32_t AlignCompute::least_score(const Item& item, std::uint32_t sequence,
                                       std::uint32_t target) const {
  std::int32_t least = selection_.min_score.value_or(std::numeric_limits<std::int32_t>::min());
  if (!selection_.max_evalue || !style_.parameters) return least;
  const align::Database database =
      style_.database.value_or(align::Database{targets(item).length(target), 1});
  return std::max(least, align::least_score(*style_.parameters, *selection_.max_evalue,
                                            item.queries.view().length(sequence), database));
}

AlignCompute::Chosen AlignCompute::choose_by_score(Item& item) {
  const auto n_queries = static_cast<std::uint32_t>(item.unit.queries.size());
  const bool both = selection_.strand == Strand::both;
  std::vector<Pair> pairs;
  for (const Pair& pair : item.unit.pairs) {
    if (selection_.strand != Strand::reverse) pairs.push_back(pair);
    if (selection_.strand != Strand::forward)
      pairs.push_back({pair.query + n_queries, pair.target});
  }
  const align::Work work{item.queries.view(), targets(item), pairs};
  item.n_pairs = pairs.size();
  item.n_cells = align::count_cells(work);
  const align::Alignments scored = backend_.score(work, threads_for(pairs.size(), item.n_cells));
  Chosen chosen;
  const std::size_t step = both ? 2 : 1;
  for (std::size_t i = 0; i < pairs.size(); i += step) {
    const std::size_t best = i + (both && scored.rows[i + 1].score > scored.rows[i].score ? 1 : 0);
    if (scored.rows[best].score < least_score(item, pairs[best].query, pairs[best].target))
      continue;
    chosen.pairs.push_back(pairs[best]);
    chosen.scores.push_back(scored.rows[best]);
  }
  return chosen;
}

AlignCompute::Chosen AlignCompute::choose_of_search(Item& item) {
  // Without the forward strand only the second half of the sequences is searched for.
  const align::SequenceSet all = item.queries.view();
  const auto n_queries = static_cast<std::uint32_t>(item.unit.queries.size());
  const std::uint32_t skipped = selection_.strand == Strand::reverse ? n_queries : 0;
  const align::SequenceSet queries{all.residues, all.begin.subspan(skipped)};
  const align::Hits hits = backend_.search(queries, n_threads_);
  item.n_pairs = queries.size() * targets(item).size();
  item.n_cells = (queries.begin.back() - queries.begin.front()) * targets(item).residues.size();
  const std::uint64_t first_query = n_queries > 0 ? item.unit.queries.index(0) : 0;
  Chosen chosen;
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
      if (hit.score < least_score(item, sequence, hit.target)) continue;
      chosen.pairs.push_back({sequence, hit.target});
      chosen.scores.push_back({.score = hit.score});
    }
  }
  return chosen;
}

align::Alignments AlignCompute::align_chosen(Item& item, Chosen& chosen, align::Alignments spare) {
  if (style_.output == align::Output::score && !chosen.scores.empty()) {
    return {std::move(chosen.scores), {}};
  }
  if (chosen.pairs.empty()) return {};
  const align::Work work{item.queries.view(), targets(item), chosen.pairs};
  return backend_.align(work, threads_for(chosen.pairs.size(), align::count_cells(work)),
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
