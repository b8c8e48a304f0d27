#include "gpu/align/search/search_plan.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace biogpu::gpu::align {
namespace {

// Instructions of a step besides those of the rows, in rows: what a tile of few rows wastes.
constexpr std::int64_t kRowsOfStep = 3;

// Lanes that a query takes; an empty one takes one, which writes its score.
std::int64_t count_lanes(std::int64_t n_rows, int rows) {
  return std::max<std::int64_t>((n_rows + rows - 1) / rows, 1);
}

struct Track {
  std::vector<std::uint32_t> queries;
  std::int64_t n_lanes = 0;
};

// Every query in turn, the longest first, goes to the shortest track. Two neighbours of the result
// are a bundle, the longest bundle first.
std::vector<Track> fill_tracks(std::span<const std::int64_t> lengths, int rows,
                               std::size_t n_tracks) {
  std::vector<Track> tracks(n_tracks);
  using Entry = std::pair<std::int64_t, std::size_t>;  // lanes, track
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> shortest;
  for (std::size_t i = 0; i < n_tracks; ++i) shortest.emplace(0, i);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Track& track = tracks[shortest.top().second];
    track.queries.push_back(static_cast<std::uint32_t>(i));
    track.n_lanes += count_lanes(lengths[i], rows);
    const Entry entry = {track.n_lanes, shortest.top().second};
    shortest.pop();
    shortest.push(entry);
  }
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const Track& a, const Track& b) { return a.n_lanes > b.n_lanes; });
  return tracks;
}

int count_tiles_of(std::int64_t n_lanes) {
  return static_cast<int>((n_lanes + kSearchLanes - 1) / kSearchLanes);
}

struct Layout {
  int rows = 0;
  std::vector<Track> tracks;
  SearchTileCount count;
};

// That of the rows whose tiles cost least. lengths: at least one.
Layout lay_tracks(std::span<const std::int64_t> lengths, std::span<const int> rows,
                  std::size_t n_bundles) {
  const std::size_t n_tracks = 2 * std::clamp<std::size_t>(n_bundles, 1, (lengths.size() + 1) / 2);
  Layout best;
  for (const int candidate : rows) {
    Layout layout = {candidate, fill_tracks(lengths, candidate, n_tracks), {}};
    for (std::size_t i = 0; i < n_tracks; i += 2)
      layout.count.all += count_tiles_of(layout.tracks[i].n_lanes);
    layout.count.most = count_tiles_of(layout.tracks[0].n_lanes);
    layout.count.cost_of_tile = candidate + kRowsOfStep;
    const auto cost_of = [](const Layout& of) { return of.count.all * of.count.cost_of_tile; };
    if (best.rows == 0 || cost_of(layout) <= cost_of(best)) best = std::move(layout);
  }
  return best;
}

// The lanes of one query, into every second place from `to` on. residues: its first one.
void lay_query(std::uint64_t residues, std::int64_t length, std::uint32_t query, int rows,
               SearchLaneRows* to) {
  const std::int64_t n_lanes = count_lanes(length, rows);
  for (std::int64_t lane = 0; lane < n_lanes; ++lane) {
    const std::int64_t first = lane * rows;
    SearchLaneRows& held = to[2 * lane];
    held.residues = residues + static_cast<std::uint64_t>(first);
    held.n_rows = static_cast<std::int32_t>(std::min<std::int64_t>(length - first, rows));
    held.depth = static_cast<std::int32_t>(lane);
    held.slot = lane + 1 == n_lanes ? static_cast<std::int32_t>(query) : -1;
  }
}

}  // namespace

SearchTileCount count_search_tiles(std::span<const std::int64_t> lengths, std::span<const int> rows,
                                   std::size_t n_bundles) {
  if (lengths.empty()) return {};
  return lay_tracks(lengths, rows, n_bundles).count;
}

SearchPlan plan_search(std::span<const std::int64_t> lengths, std::span<const int> rows,
                       std::size_t n_bundles, int n_classes) {
  SearchPlan plan;
  if (lengths.empty()) return plan;
  const Layout layout = lay_tracks(lengths, rows, n_bundles);
  const std::vector<Track>& tracks = layout.tracks;
  plan.rows = layout.rows;
  std::vector<std::uint64_t> residues(lengths.size(), 0);
  for (std::size_t i = 1; i < lengths.size(); ++i)
    residues[i] = residues[i - 1] + static_cast<std::uint64_t>(lengths[i - 1]);
  for (std::size_t i = 0; i < tracks.size(); i += 2) {
    SearchBundle bundle;
    bundle.n_tiles = count_tiles_of(tracks[i].n_lanes);
    bundle.lanes = plan.lanes.size();
    bundle.profile = plan.n_profile_words;
    plan.n_profile_words += count_profile_words(plan.rows, bundle.n_tiles, n_classes);
    plan.lanes.resize(plan.lanes.size() +
                      2 * kSearchLanes * static_cast<std::size_t>(bundle.n_tiles));
    for (std::size_t half = 0; half < 2; ++half) {
      SearchLaneRows* to = plan.lanes.data() + bundle.lanes + half;
      for (const std::uint32_t query : tracks[i + half].queries) {
        lay_query(residues[query], lengths[query], query, plan.rows, to);
        to += 2 * count_lanes(lengths[query], plan.rows);
      }
    }
    plan.max_tiles = std::max(plan.max_tiles, bundle.n_tiles);
    plan.bundles.push_back(bundle);
  }
  return plan;
}

}  // namespace biogpu::gpu::align
