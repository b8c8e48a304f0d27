#include "gpu/align/search_batch.hpp"

#include <algorithm>
#include <cstdlib>

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

// Units of work that keep a block busy for long enough that the last ones do not matter.
constexpr std::uint64_t kUnitsOfBlock = 16;
// A bundle is closed when its tracks have this many lanes and differ by less than one in so many.
constexpr std::size_t kLanesOfTrack = 64;
constexpr std::size_t kEvenTracks = 32;

// Lanes that a query takes; an empty one takes one, which writes its score.
std::int64_t count_lanes(std::int64_t n_rows, int rows) {
  return std::max<std::int64_t>((n_rows + rows - 1) / rows, 1);
}

}  // namespace

bool allows_search(const SearchSettings& settings) { return bias_of(settings) <= 1024; }

int choose_search_rows(std::span<const std::int64_t> lengths) {
  int best = kSearchRows.back();
  std::int64_t least = -1;
  for (const int rows : kSearchRows) {
    std::int64_t all = 0, longest = 0;
    for (const std::int64_t length : lengths) {
      all += count_lanes(length, rows);
      longest = std::max(longest, count_lanes(length, rows));
    }
    const std::int64_t track = std::max((all + 1) / 2, longest);
    const std::int64_t work = (track + kSearchLanes - 1) / kSearchLanes * (rows + kRowsOfStep);
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
         profile_.bytes() + bundles_.bytes() + lanes_.bytes() + borders_.bytes() + score_.bytes() +
         hits_.bytes() + inexact_.bytes() + n_hits_.bytes();
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
                                std::uint64_t{top()} * sizeof(SearchHit) + sizeof(SearchBundle);
  std::uint64_t bytes = 0;
  std::size_t n = 0;
  for (; n < queries.size(); ++n) {
    const std::uint64_t rows = queries[n].residues.size() + kSearchLanes * kSearchRows.back();
    bytes += of_slot + rows * static_cast<std::uint64_t>(settings_.n_classes + 1) * 4;
    if (bytes > max_bytes && n >= 2) break;
  }
  return n;
}

// Closes the bundle in track_.
void SearchBatch::add_bundle() {
  const std::size_t longest = std::max(track_[0].size(), track_[1].size());
  if (longest == 0) return;
  SearchBundle bundle;
  bundle.n_tiles = static_cast<std::int32_t>((longest + kSearchLanes - 1) / kSearchLanes);
  bundle.lanes = planned_lanes_.size();
  bundle.profile = n_profile_words_;
  n_profile_words_ += count_profile_words(rows_, bundle.n_tiles, settings_.n_classes);
  const std::size_t n_lanes = static_cast<std::size_t>(bundle.n_tiles) * kSearchLanes;
  for (auto& track : track_) track.resize(n_lanes);
  for (std::size_t lane = 0; lane < n_lanes; ++lane) {
    for (const auto& track : track_) planned_lanes_.push_back(track[lane]);
  }
  for (auto& track : track_) track.clear();
  most_tiles_ = std::max(most_tiles_, bundle.n_tiles);
  planned_.push_back(bundle);
}

// Lays the queries, the longest first, each at the end of the shorter track. Where units are many
// anyway, bundles are long, so that their tracks end together; else they hold two queries.
void SearchBatch::plan(std::span<const SearchQuery> queries) {
  std::vector<std::int64_t> lengths;
  for (const SearchQuery& query : queries)
    lengths.push_back(static_cast<std::int64_t>(query.residues.size()));
  rows_ = choose_search_rows(lengths);
  if (const char* rows = std::getenv("BIOGPU_SEARCH_ROWS")) rows_ = std::atoi(rows);
  most_tiles_ = 0;
  planned_.clear();
  planned_lanes_.clear();
  n_profile_words_ = 0;
  const std::uint64_t n_batches = part_.batches.size();
  const bool few = queries.size() * n_batches / 2 <
                   kUnitsOfBlock * count_search_blocks(~std::uint64_t{0}, stream_);
  std::uint64_t residues = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    auto& track = track_[track_[1].size() < track_[0].size() ? 1 : 0];
    const auto n_lanes = static_cast<std::int32_t>(count_lanes(lengths[i], rows_));
    for (std::int32_t lane = 0; lane < n_lanes; ++lane) {
      const std::int64_t first = std::int64_t{lane} * rows_;
      const bool last = lane + 1 == n_lanes;
      track.push_back({residues + static_cast<std::uint64_t>(first),
                       static_cast<std::int32_t>(std::min<std::int64_t>(lengths[i] - first, rows_)),
                       lane, last ? static_cast<std::int32_t>(i) : -1});
    }
    residues += queries[i].residues.size();
    const auto [shorter, longer] = std::minmax(track_[0].size(), track_[1].size());
    const bool even = longer >= kLanesOfTrack && (longer - shorter) * kEvenTracks < longer;
    if (even || (few && shorter > 0)) add_bundle();
  }
  add_bundle();
  std::stable_sort(
      planned_.begin(), planned_.end(),
      [](const SearchBundle& a, const SearchBundle& b) { return a.n_tiles > b.n_tiles; });
}

void SearchBatch::upload(std::span<const SearchQuery> queries) {
  gathered_.clear();
  for (const SearchQuery& query : queries)
    gathered_.insert(gathered_.end(), query.residues.begin(), query.residues.end());
  residues_.reserve(gathered_.size());
  bundles_.reserve(planned_.size());
  lanes_.reserve(planned_lanes_.size());
  profile_.reserve(n_profile_words_);
  score_.reserve(queries.size() * part_.n_targets);
  hits_.reserve(queries.size() * top());
  n_hits_.reserve(queries.size());
  stream_.copy_to_device(residues_.data(), gathered_.data(), gathered_.size());
  stream_.copy_to_device(bundles_.data(), planned_.data(), planned_.size() * sizeof(SearchBundle));
  stream_.copy_to_device(lanes_.data(), planned_lanes_.data(),
                         planned_lanes_.size() * sizeof(SearchLaneRows));
  stream_.fill(counters_.data(), 0, counters_.bytes());
}

SearchArgs SearchBatch::score_args() const {
  SearchArgs args;
  args.scores = settings_.scores;
  args.residues = residues_.data();
  args.bundles = bundles_.data();
  args.lanes = lanes_.data();
  args.n_bundles = static_cast<std::uint32_t>(planned_.size());
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
  plan(queries);
  upload(queries);
  SearchArgs args = score_args();
  const std::uint32_t n_blocks =
      count_search_blocks(std::uint64_t{args.n_bundles} * args.n_batches, stream_);
  borders_.reserve(std::uint64_t{n_blocks} * kSearchTargets *
                   static_cast<std::uint64_t>(args.border_stride));
  args.borders = borders_.data();
  start_.record(stream_);
  launch_search_profile(args, rows_, most_tiles_, stream_);
  launch_search_score(args, rows_, n_blocks, stream_);
  launch_search_top(top_args(queries.size()), stream_);
  stop_.record(stream_);
  SearchResult result = read(queries.size());
  seconds_ += stop_.seconds_since(start_);
  return result;
}

}  // namespace biogpu::gpu::align
