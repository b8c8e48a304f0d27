#include <algorithm>
#include <vector>

#include "lib/align/search.hpp"

namespace biogpu::align {
namespace {
constexpr std::size_t kPairsAtOnce = 1u << 16;
}

Hits search_cpu(const SequenceSet& queries, const SequenceSet& targets, const Options& options,
                const SearchOptions& search, int n_threads) {
  Options score_only = options;
  score_only.output = Output::score;
  Hits hits;
  HitPicker picker(search);
  std::vector<Pair> pairs;
  for (std::uint32_t query = 0; query < queries.size(); ++query) {
    for (std::size_t first = 0; first < targets.size(); first += kPairsAtOnce) {
      const std::size_t last = std::min(targets.size(), first + kPairsAtOnce);
      pairs.clear();
      for (std::size_t target = first; target < last; ++target)
        pairs.push_back({query, static_cast<std::uint32_t>(target)});
      const Alignments scored = align_cpu({queries, targets, pairs}, score_only, n_threads);
      for (std::size_t i = 0; i < pairs.size(); ++i)
        picker.offer({pairs[i].target, scored.rows[i].score});
    }
    picker.finish(hits);
  }
  return hits;
}

}  // namespace biogpu::align
