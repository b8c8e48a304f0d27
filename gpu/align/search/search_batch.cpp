#include "gpu/align/search/search_batch.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "gpu/rt/error.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr std::uint32_t kMaxInexact = 1u << 16;
// What is in no list yet.
constexpr std::uint64_t kNoPair = ~std::uint64_t{0};
constexpr int kHighest = 32767;
// Above this, hits are copied query by query instead of with the places that stayed empty.
constexpr std::uint64_t kCopiedWhole = std::uint64_t{1} << 20;
// The highest number of a small cell, and what no score or cost exceeds that small cells add.
constexpr int kHighestSmall = 2047;
constexpr int kMaxSmallSum = 1023;

int bias_of(const SearchSettings& s) {
  return std::max({s.gap_open, s.gap_extend, -s.min_score, 0});
}

}  // namespace

bool allows_search(const SearchSettings& settings) { return bias_of(settings) <= 1024; }

SearchBatch::SearchBatch(const SearchSettings& settings)
    : settings_(settings), n_inexact_(1), inexact_(kMaxInexact), n_listed_(kMaxInexact) {}

std::uint32_t SearchBatch::top() const {
  const std::uint32_t all = std::max<std::uint32_t>(part_.n_targets, 1);
  return settings_.top == 0 ? all : std::min(settings_.top, all);
}

// Small cells where the scheme allows them, wide ones else.
SearchCells SearchBatch::small_cells() const {
  const SearchSettings& s = settings_;
  if (std::max({s.gap_open, s.gap_extend, -s.min_score, s.max_score}) > kMaxSmallSum)
    return SearchCells::wide;
  return s.gap_extend == 1 ? SearchCells::unit : SearchCells::small;
}

std::uint64_t SearchBatch::limit(SearchCells cells) const {
  const int highest = cells == SearchCells::wide ? kHighest - bias_of(settings_) : kHighestSmall;
  return static_cast<std::uint64_t>(highest - std::max(settings_.max_score, 0));
}

std::uint64_t SearchBatch::device_bytes() const {
  return letters_.bytes() + residues_.bytes() + targets_.bytes() + numbers_.bytes() +
         profile_.bytes() + bundles_.bytes() + lanes_.bytes() + units_.bytes() + borders_.bytes() +
         split_borders_.bytes() + progress_.bytes() + score_.bytes() + hits_.bytes() +
         n_inexact_.bytes() + n_hits_.bytes();
}

void SearchBatch::begin_part(const SearchPart& part) {
  part_ = part;
  letters_.reserve(part.n_letters);
  gpu::upload(stream_, targets_, part_.batches);
  gpu::upload(stream_, numbers_, part_.numbers);
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
    const std::uint64_t rows = queries[n].residues.size() + kSearchLanes * kWideSearchRows.back();
    bytes += of_slot + rows * static_cast<std::uint64_t>(settings_.n_classes + 1) * 4;
    if (bytes > max_bytes && n >= 2) break;
  }
  return n;
}

void SearchBatch::make_plan(SearchCells cells, std::span<const SearchQuery> queries) {
  std::vector<std::int64_t> lengths;
  for (const SearchQuery& query : queries)
    lengths.push_back(static_cast<std::int64_t>(query.residues.size()));
  const std::span<const int> rows = cells == SearchCells::wide
                                        ? std::span<const int>(kWideSearchRows)
                                        : std::span<const int>(kSearchRows);
  const std::uint32_t n_blocks = count_search_blocks(~std::uint64_t{0}, stream_);
  plan_ = plan_search(lengths, rows, choose_bundles(lengths, rows, part_.batches, n_blocks),
                      settings_.n_classes);
  schedule_ = schedule_search(plan_, part_.batches, n_blocks, settings_.max_split_bytes);
}

void SearchBatch::upload(std::span<const SearchQuery> queries) {
  gathered_.clear();
  for (const SearchQuery& query : queries)
    gathered_.insert(gathered_.end(), query.residues.begin(), query.residues.end());
  profile_.reserve(plan_.n_profile_words);
  score_.reserve(queries.size() * part_.n_targets);
  hits_.reserve(queries.size() * top());
  n_hits_.reserve(queries.size());
  gpu::upload(stream_, residues_, gathered_);
  gpu::upload(stream_, bundles_, plan_.bundles);
  gpu::upload(stream_, lanes_, plan_.lanes);
  gpu::upload(stream_, units_, schedule_.units);
  progress_.reserve(count_search_progress(plan_.n_tiles(), schedule_.n_split));
  split_borders_.reserve(plan_.bundles.size() * schedule_.n_split_letters);
  stream_.fill(n_inexact_.data(), 0, n_inexact_.bytes());
  std::fill_n(inexact_.data(), n_listed_, kNoPair);
  n_listed_ = kMaxInexact;  // until read() knows
}

SearchArgs SearchBatch::score_args(SearchCells cells) const {
  SearchArgs args;
  args.scores = settings_.scores;
  args.residues = residues_.data();
  args.bundles = bundles_.data();
  args.lanes = lanes_.data();
  args.n_bundles = static_cast<std::uint32_t>(plan_.bundles.size());
  args.letters = letters_.data();
  args.targets = targets_.data();
  args.numbers = numbers_.data();
  args.profile = profile_.data();
  args.units = units_.data();
  args.split_borders = split_borders_.data();
  args.progress = progress_.data();
  args.score = score_.data();
  args.inexact = inexact_.data();
  args.n_inexact = n_inexact_.data();
  args.limit = static_cast<std::uint32_t>(limit(cells));
  args.max_inexact = kMaxInexact;
  args.n_targets = part_.n_targets;
  args.n_units = static_cast<std::uint32_t>(schedule_.units.size());
  args.n_tiles = static_cast<std::uint32_t>(plan_.n_tiles());
  args.n_split = schedule_.n_split;
  args.n_split_letters = schedule_.n_split_letters;
  args.border_stride = schedule_.border_stride;
  args.n_classes = settings_.n_classes;
  args.gap_open = settings_.gap_open;
  args.gap_extend = settings_.gap_extend;
  args.bias = cells == SearchCells::wide ? bias_of(settings_) : 0;
  return args;
}

SearchTopArgs SearchBatch::top_args(SearchCells cells, std::size_t n_queries) const {
  SearchTopArgs args;
  args.score = score_.data();
  args.hits = hits_.data();
  args.n_hits = n_hits_.data();
  args.n_targets = part_.n_targets;
  args.n_slots = static_cast<std::uint32_t>(n_queries);
  args.top = top();
  args.min_score = settings_.min_hit;
  args.limit = static_cast<std::uint32_t>(limit(cells));
  return args;
}

SearchResult SearchBatch::read(std::size_t n_queries) {
  SearchResult result;
  std::vector<std::uint32_t> n_hits(n_queries);
  std::uint32_t n_inexact = 0;
  stream_.copy_to_host(n_hits.data(), n_hits_.data(), n_queries * sizeof(std::uint32_t));
  stream_.copy_to_host(&n_inexact, n_inexact_.data(), sizeof n_inexact);
  stream_.synchronize();
  result.all_inexact = n_inexact > kMaxInexact;
  n_listed_ = std::min(n_inexact, kMaxInexact);
  result.inexact.assign(inexact_.data(), inexact_.data() + n_listed_);
  result.hits.resize(n_queries);
  std::vector<SearchHit> whole;
  const std::uint64_t n_places = std::uint64_t{n_queries} * top();
  if (n_places * sizeof(SearchHit) <= kCopiedWhole) {
    whole.resize(n_places);
    download(stream_, whole, hits_.data());
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

void SearchBatch::wait(const std::function<void(InexactPairs)>& early) {
  std::uint32_t n_told = 0;
  while (!stop_.is_reached()) {
    std::uint32_t n = n_told;
    while (n < kMaxInexact &&
           std::atomic_ref(inexact_.data()[n]).load(std::memory_order_relaxed) != kNoPair)
      ++n;
    if (n == n_told) {
      std::this_thread::yield();
    } else {
      try {
        early(InexactPairs(inexact_.data(), n).subspan(n_told));
      } catch (...) {
        stream_.synchronize();  // the next run clears the list
        throw;
      }
    }
    n_told = n;
  }
}

SearchResult SearchBatch::run_cells(SearchCells cells, std::span<const SearchQuery> queries,
                                    const std::function<void(InexactPairs)>& early) {
  make_plan(cells, queries);
  upload(queries);
  SearchArgs args = score_args(cells);
  const std::uint32_t n_blocks = count_search_blocks(args.n_units, stream_);
  borders_.reserve(std::uint64_t{n_blocks} * kSearchTargets *
                   static_cast<std::uint64_t>(args.border_stride));
  args.borders = borders_.data();
  start_.record(stream_);
  launch_search_profile(args, cells, plan_.rows, plan_.max_tiles, stream_);
  launch_search_score(args, cells, plan_.rows, n_blocks, stream_);
  launch_search_top(top_args(cells, queries.size()), stream_);
  stop_.record(stream_);
  wait(early);
  SearchResult result = read(queries.size());
  seconds_ += stop_.seconds_since(start_);
  return result;
}

SearchResult SearchBatch::run(std::span<const SearchQuery> queries,
                              const std::function<void(InexactPairs)>& early) {
  if (part_.n_targets == 0) return {std::vector<std::vector<SearchHit>>(queries.size()), {}, false};
  const SearchCells small = small_cells();
  SearchResult result = run_cells(small, queries, early);
  // Where so many scores are high, cells that hold them are faster than one pair after the other.
  if (result.all_inexact && small != SearchCells::wide)
    return run_cells(SearchCells::wide, queries, early);
  return result;
}

}  // namespace biogpu::gpu::align
