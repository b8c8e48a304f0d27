#include "lib/align/search.hpp"

#include <algorithm>

namespace biogpu::align {

void HitPicker::shrink() {
  const auto last = hits_.begin() + static_cast<std::ptrdiff_t>(search_.top);
  std::nth_element(hits_.begin(), last - 1, hits_.end());
  hits_.erase(last, hits_.end());
}

void HitPicker::finish(Hits& all) {
  if (search_.top > 0 && hits_.size() > search_.top) shrink();
  std::sort(hits_.begin(), hits_.end());
  all.rows.insert(all.rows.end(), hits_.begin(), hits_.end());
  all.begin.push_back(all.rows.size());
  hits_.clear();
}

Hits search_ref(const SequenceSet& queries, const SequenceSet& targets, const Options& options,
                const SearchOptions& search) {
  Options score_only = options;
  score_only.output = Output::score;
  Hits hits;
  HitPicker picker(search);
  for (std::uint32_t query = 0; query < queries.size(); ++query) {
    for (std::uint32_t target = 0; target < targets.size(); ++target) {
      const Pair pair{query, target};
      const Alignments one = align_ref({queries, targets, {&pair, 1}}, score_only);
      picker.offer({target, one.rows[0].score});
    }
    picker.finish(hits);
  }
  return hits;
}

}  // namespace biogpu::align
