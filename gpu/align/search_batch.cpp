#include "gpu/align/search_batch.hpp"

#include <algorithm>

#include "gpu/rt/error.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr std::uint32_t kMostInexact = 1u << 16;
constexpr int kHighest = 32767;
// Above this, hits are copied query by query instead of with the places that stayed empty.
constexpr std::uint64_t kCopiedWhole = std::uint64_t{1} << 20;
// Instructions of a step besides those of the rows, in rows: what a tile of few rows wastes.
constexpr std::int64_t kRowsOfStep = 3;

int bias_of(const SearchSettings& s) {
  return std::max({s.gap_open, s.gap_extend, -s.min_score, 0});
}

std::int32_t count_search_tiles(std::int64_t n_rows, int rows) {
  const std::int64_t tile = std::int64_t{rows} * kSearchLanes;
  return static_cast<std::int32_t>((n_rows + tile - 1) / tile);
}

}  // namespace

bool allows_search(const SearchSettings& settings) { return bias_of(settings) <= 1024; }

int choose_search_rows(std::int64_t n_rows) {
  int best = kSearchRows.back();
  std::int64_t least = -1;
  for (const int rows : kSearchRows) {
    const std::int64_t work = count_search_tiles(n_rows, rows) * (rows + kRowsOfStep);
    if (least >= 0 && work > least) continue;
    least = work;
    best = rows;
  }
  return best;
}

SearchBatch::SearchBatch(const SearchSettings& settings)
    : settings_(settings), counters_(2), inexact_(kMostInexact) {}

std::uint32_t SearchBatch::top() const {
  const std::uint32_t all = std::max<std::uint32_t>(part_.n_targets, 1);
  return settings_.top == 0 ? all : std::min(settings_.top, all);
}

std::uint64_t SearchBatch::limit() const {
  return static_cast<std::uint64_t>(kHighest - bias_of(settings_) -
                                    std::max(settings_.max_score, 0));
}

std::uint64_t SearchBatch::device_bytes() const {
  return letters_.bytes() + residues_.bytes() + targets_.bytes() + numbers_.bytes() +
         profile_.bytes() + queries_.bytes() + borders_.bytes() + score_.bytes() + hits_.bytes() +
         inexact_.bytes() + n_hits_.bytes();
}

void SearchBatch::begin_part(const SearchPart& part) {
  part_ = part;
  letters_.reserve(part.n_letters);
  targets_.reserve(part.batches.size());
  numbers_.reserve(part.numbers.size());
  stream_.copy_to_device(targets_.data(), part_.batches.data(),
                         part_.batches.size() * sizeof(SearchTargets));
  stream_.copy_to_device(numbers_.data(), part_.numbers.data(),
                         part_.numbers.size() * sizeof(std::uint32_t));
  stream_.synchronize();
}

void SearchBatch::write_letters(std::uint64_t at, std::span<const std::uint8_t> letters) {
  stream_.copy_to_device(letters_.data() + at, letters.data(), letters.size());
  stream_.synchronize();
}

std::size_t SearchBatch::count_queries(std::span<const SearchQuery> queries,
                                       std::uint64_t max_bytes) const {
  const std::uint64_t of_slot = std::uint64_t{part_.n_targets} * sizeof(std::uint16_t) +
                                std::uint64_t{top()} * sizeof(SearchHit) + sizeof(SearchQueries);
  std::uint64_t bytes = 0;
  std::size_t n = 0;
  for (; n < queries.size(); ++n) {
    const std::uint64_t rows = queries[n].residues.size() + kSearchLanes * kSearchRows.back();
    bytes += of_slot + rows * static_cast<std::uint64_t>(settings_.n_classes + 1) * 4;
    if (bytes > max_bytes && n >= 2) break;
  }
  return n == queries.size() ? n : n / 2 * 2;
}

std::vector<SearchBatch::Group> SearchBatch::plan(std::span<const SearchQuery> queries) {
  pairs_.clear();
  std::uint64_t residues = 0;
  for (std::size_t i = 0; i < queries.size(); i += 2) {
    SearchQueries pair;
    pair.slot = static_cast<std::int32_t>(i);
    for (std::size_t half = 0; half < 2 && i + half < queries.size(); ++half) {
      pair.n_rows[half] = static_cast<std::int32_t>(queries[i + half].residues.size());
      pair.residues[half] = residues;
      residues += queries[i + half].residues.size();
    }
    pairs_.push_back(pair);
  }
  const auto rows_of = [](const SearchQueries& pair) { return choose_search_rows(pair.n_rows[0]); };
  std::stable_sort(
      pairs_.begin(), pairs_.end(),
      [&](const SearchQueries& a, const SearchQueries& b) { return rows_of(a) > rows_of(b); });
  std::vector<Group> groups;
  n_profile_words_ = 0;
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
    SearchQueries& pair = pairs_[i];
    const int rows = rows_of(pair);
    pair.n_tiles = count_search_tiles(pair.n_rows[0], rows);
    pair.profile = n_profile_words_;
    n_profile_words_ += count_profile_words(rows, pair.n_tiles, settings_.n_classes);
    if (groups.empty() || groups.back().rows != rows) groups.push_back({rows, i, 0, 0});
    groups.back().n += 1;
    groups.back().most_tiles = std::max(groups.back().most_tiles, pair.n_tiles);
  }
  return groups;
}

void SearchBatch::upload(std::span<const SearchQuery> queries) {
  gathered_.clear();
  for (const SearchQuery& query : queries)
    gathered_.insert(gathered_.end(), query.residues.begin(), query.residues.end());
  residues_.reserve(gathered_.size());
  queries_.reserve(pairs_.size());
  profile_.reserve(n_profile_words_);
  score_.reserve(queries.size() * part_.n_targets);
  hits_.reserve(queries.size() * top());
  n_hits_.reserve(queries.size());
  stream_.copy_to_device(residues_.data(), gathered_.data(), gathered_.size());
  stream_.copy_to_device(queries_.data(), pairs_.data(), pairs_.size() * sizeof(SearchQueries));
  stream_.fill(counters_.data(), 0, counters_.bytes());
}

SearchArgs SearchBatch::score_args() const {
  SearchArgs args;
  args.scores = settings_.scores;
  args.residues = residues_.data();
  args.letters = letters_.data();
  args.targets = targets_.data();
  args.numbers = numbers_.data();
  args.profile = profile_.data();
  args.next_unit = counters_.data();
  args.score = score_.data();
  args.n_targets = part_.n_targets;
  args.n_batches = static_cast<std::uint32_t>(part_.batches.size());
  args.border_stride = part_.batches.empty() ? 0 : part_.batches[0].n_columns;
  args.n_classes = settings_.n_classes;
  args.gap_open = settings_.gap_open;
  args.gap_extend = settings_.gap_extend;
  args.bias = bias_of(settings_);
  return args;
}

SearchTopArgs SearchBatch::top_args(std::size_t n_queries) const {
  SearchTopArgs args;
  args.score = score_.data();
  args.hits = hits_.data();
  args.n_hits = n_hits_.data();
  args.inexact = inexact_.data();
  args.n_inexact = counters_.data() + 1;
  args.n_targets = part_.n_targets;
  args.n_slots = static_cast<std::uint32_t>(n_queries);
  args.top = top();
  args.min_score = settings_.min_hit;
  args.limit = static_cast<std::uint32_t>(limit());
  args.most_inexact = kMostInexact;
  return args;
}

SearchResult SearchBatch::read(std::size_t n_queries) {
  SearchResult result;
  std::vector<std::uint32_t> n_hits(n_queries);
  std::uint32_t n_inexact = 0;
  stream_.copy_to_host(n_hits.data(), n_hits_.data(), n_queries * sizeof(std::uint32_t));
  stream_.copy_to_host(&n_inexact, counters_.data() + 1, sizeof n_inexact);
  stream_.synchronize();
  result.all_inexact = n_inexact > kMostInexact;
  result.inexact.resize(std::min(n_inexact, kMostInexact));
  stream_.copy_to_host(result.inexact.data(), inexact_.data(),
                       result.inexact.size() * sizeof(std::uint64_t));
  result.hits.resize(n_queries);
  std::vector<SearchHit> whole;
  const std::uint64_t n_places = std::uint64_t{n_queries} * top();
  if (n_places * sizeof(SearchHit) <= kCopiedWhole) {
    whole.resize(n_places);
    stream_.copy_to_host(whole.data(), hits_.data(), n_places * sizeof(SearchHit));
    stream_.synchronize();
  }
  for (std::size_t i = 0; i < n_queries; ++i) {
    auto& hits = result.hits[i];
    hits.resize(n_hits[i]);
    const std::uint64_t first = std::uint64_t{i} * top();
    if (!whole.empty()) {
      std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(first), hits.size(), hits.begin());
    } else {
      stream_.copy_to_host(hits.data(), hits_.data() + first, hits.size() * sizeof(SearchHit));
    }
  }
  stream_.synchronize();
  return result;
}

SearchResult SearchBatch::run(std::span<const SearchQuery> queries) {
  if (part_.n_targets == 0) return {std::vector<std::vector<SearchHit>>(queries.size()), {}, false};
  const std::vector<Group> groups = plan(queries);
  upload(queries);
  SearchArgs args = score_args();
  std::uint64_t most_units = 0;
  for (const Group& group : groups)
    most_units = std::max(most_units, std::uint64_t{group.n} * args.n_batches);
  const std::uint32_t most_blocks = count_search_blocks(most_units, stream_);
  borders_.reserve(std::uint64_t{most_blocks} * kSearchTargets *
                   static_cast<std::uint64_t>(args.border_stride));
  args.borders = borders_.data();
  start_.record(stream_);
  for (const Group& group : groups) {
    args.queries = queries_.data() + group.first;
    args.n_query_pairs = group.n;
    launch_search_profile(args, group.rows, group.most_tiles, stream_);
    launch_search_score(args, group.rows,
                        count_search_blocks(std::uint64_t{group.n} * args.n_batches, stream_),
                        stream_);
  }
  launch_search_top(top_args(queries.size()), stream_);
  stop_.record(stream_);
  SearchResult result = read(queries.size());
  seconds_ += stop_.seconds_since(start_);
  return result;
}

}  // namespace biogpu::gpu::align
