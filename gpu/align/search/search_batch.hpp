#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/align/search/search_plan.hpp"
#include "gpu/align/search/search_schedule.hpp"
#include "gpu/align/search/search_score.hpp"
#include "gpu/align/search/search_top.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::align {

// What a search needs to know besides the sequences. scores: device memory, CellScheme::scores.
struct SearchSettings {
  const std::int8_t* scores = nullptr;
  int n_classes = 0;
  int gap_open = 0;
  int gap_extend = 0;
  int max_score = 0;  // of one pair of residues
  int min_score = 0;
  std::uint32_t top = 0;      // hits of a query, 0: all
  std::uint32_t min_hit = 0;  // score of a hit
  // For borders, units and progress of bundles whose tiles several blocks take. With little of it
  // long targets hold up their blocks.
  std::uint64_t max_split_bytes = std::uint64_t{1} << 30;
};

// Whether the packed kernel can be used under these scores at all.
bool allows_search(const SearchSettings& settings);

// A part of a target set as it lies on the device, on the host.
struct SearchPart {
  std::vector<SearchTargets> batches;  // the longest first
  std::vector<std::uint32_t> numbers;  // of SearchArgs
  std::uint64_t n_letters = 0;
  std::uint32_t n_targets = 0;
};

struct SearchQuery {
  std::span<const std::uint8_t> residues;
};

// Pairs whose scores the cells do not hold: query << 32 | target.
using InexactPairs = std::span<const std::uint64_t>;

// Hits of one run, by position in the queries given.
struct SearchResult {
  std::vector<std::vector<SearchHit>> hits;  // [query], in any order; target: number in the part
  std::vector<std::uint64_t> inexact;        // InexactPairs, in any order
  bool all_inexact = false;                  // too many of them to list
};

// Searches one part of a target set at a time. Errors are DeviceError.
class SearchBatch {
 public:
  explicit SearchBatch(const SearchSettings& settings);

  // Makes room; then letters are written piecewise by write_letters.
  void begin_part(const SearchPart& part);
  void write_letters(std::uint64_t at, std::span<const std::uint8_t> letters);

  // How many queries of a set that is sorted by length, the longest first, one run takes.
  std::size_t count_queries(std::span<const SearchQuery> queries, std::uint64_t max_bytes) const;
  // early: is told of inexact pairs while the device works on, so that little of what it does about
  // them takes time of its own. They are in the result too, unless there are so many that the run
  // is repeated with wider cells.
  SearchResult run(std::span<const SearchQuery> queries,
                   const std::function<void(InexactPairs)>& early);

  double device_seconds() const { return seconds_; }  // kernels of all runs
  std::uint64_t device_bytes() const;

 private:
  std::uint32_t top() const;
  std::uint64_t limit(SearchCells cells) const;
  SearchCells small_cells() const;
  void make_plan(SearchCells cells, std::span<const SearchQuery> queries);
  void upload(std::span<const SearchQuery> queries);
  SearchArgs score_args(SearchCells cells) const;
  SearchTopArgs top_args(SearchCells cells, std::size_t n_queries) const;
  SearchResult run_cells(SearchCells cells, std::span<const SearchQuery> queries,
                         const std::function<void(InexactPairs)>& early);
  void wait(const std::function<void(InexactPairs)>& early);
  SearchResult read(std::size_t n_queries);

  SearchSettings settings_;
  SearchPart part_;
  DeviceBuffer<std::uint8_t> letters_, residues_;
  DeviceBuffer<SearchTargets> targets_;
  DeviceBuffer<std::uint32_t> numbers_, profile_, progress_, n_inexact_, n_hits_;
  DeviceBuffer<SearchBundle> bundles_;
  DeviceBuffer<SearchLaneRows> lanes_;
  DeviceBuffer<SearchUnit> units_;
  DeviceBuffer<BorderCell> borders_, split_borders_;
  DeviceBuffer<std::uint16_t> score_;
  DeviceBuffer<SearchHit> hits_;
  PinnedBuffer<std::uint64_t> inexact_;
  std::uint32_t n_listed_;              // of inexact_, to be cleared before the next run
  SearchPlan plan_;                     // of the run
  SearchSchedule schedule_;             // of the run
  std::vector<std::uint8_t> gathered_;  // residues of the run
  double seconds_ = 0;
  Event start_, stop_;
  Stream stream_;  // last: its destruction waits for work on all of the above
};

}  // namespace biogpu::gpu::align
