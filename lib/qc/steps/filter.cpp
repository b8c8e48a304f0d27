#include "lib/qc/steps/filter.hpp"

#include <algorithm>

#include "lib/qc/steps/umi.hpp"

namespace biogpu::qc {
namespace {

bool varies_enough(const Mate& mate, int percent) {
  int differing = 0;
  for (int i = 0; i + 1 < mate.length; ++i) differing += mate.sequence[i] != mate.sequence[i + 1];
  return is_complex(differing, mate.length, percent);
}

bool matches_list(const std::vector<std::string>& list, std::string_view index, int threshold) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& barcode) {
    const std::size_t n = std::min(barcode.size(), index.size());
    int mismatches = 0;
    for (std::size_t i = 0; i < n; ++i) mismatches += barcode[i] != index[i];
    return mismatches <= threshold;
  });
}

}  // namespace

std::string_view failure_tag(Verdict verdict) {
  switch (verdict) {
    case Verdict::too_many_n:
      return "failed_too_many_n_bases";
    case Verdict::too_short:
      return "failed_too_short";
    case Verdict::too_long:
      return "failed_too_long";
    case Verdict::low_quality:
      return "failed_quality_filter";
    case Verdict::low_complexity:
      return "failed_low_complexity";
    case Verdict::adapter_dimer:
      return "failed_adapter_dimer";
    case Verdict::passed:
      break;
  }
  return "passed";
}

BaseCounts count_bases_ref(const char* sequence, const char* quality, int length, int qualified) {
  BaseCounts counts;
  for (int i = 0; i < length; ++i) {
    counts.quality_sum += quality[i] - kPhredOffset;
    counts.low_quality += quality[i] < kPhredOffset + qualified;
    counts.n_bases += sequence[i] == 'N';
  }
  return counts;
}

bool is_complex(int n_differing, int length, int percent) {
  return length > 1 && static_cast<double>(n_differing) / (length - 1) >= percent / 100.0;
}

Verdict filter(const Mate& mate, const Options& options) {
  if (mate.dropped || mate.length == 0) return Verdict::too_short;
  if (options.quality_filter) {
    const BaseCounts counts =
        count_bases(mate.sequence, mate.quality, mate.length, options.qualified_quality);
    if (100L * counts.low_quality > static_cast<long>(options.unqualified_percent) * mate.length)
      return Verdict::low_quality;
    if (options.average_quality > 0 && counts.quality_sum / mate.length < options.average_quality)
      return Verdict::low_quality;
    if (counts.n_bases > options.n_base_limit) return Verdict::too_many_n;
  }
  if (options.length_filter) {
    if (mate.length < options.length_required) return Verdict::too_short;
    if (options.length_limit > 0 && mate.length > options.length_limit) return Verdict::too_long;
  }
  if (options.complexity_filter && !varies_enough(mate, options.complexity_percent))
    return Verdict::low_complexity;
  return Verdict::passed;
}

bool has_listed_index(std::string_view name1, std::string_view name2, const Options& options) {
  if (matches_list(options.index_list1, first_index(name1), options.index_threshold)) return true;
  return options.paired() &&
         matches_list(options.index_list2, last_index(name2), options.index_threshold);
}

}  // namespace biogpu::qc
