#include "lib/qc/stats/filter_counts.hpp"

namespace biogpu::qc {
namespace {

template <class Array>
void add_each(Array& to, const Array& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

void FilterCounts::count_read(const TrimResult& result) {
  const auto has = [&](std::uint8_t flag) { return (result.flags & flag) != 0; };
  adapter_reads += result.adapter_length > 0 || has(kCutByOverlap | kFastaAdapter);
  corrected_reads += has(kCorrected);
  if (!has(kHasPolyX)) return;
  ++poly_x_reads[result.poly_x];
  poly_x_bases[result.poly_x] += static_cast<std::uint64_t>(result.poly_x_length);
}

void FilterCounts::add(const FilterCounts& other) {
  add_each(verdicts, other.verdicts);
  adapter_reads += other.adapter_reads;
  adapter_bases += other.adapter_bases;
  add_each(poly_x_reads, other.poly_x_reads);
  add_each(poly_x_bases, other.poly_x_bases);
  corrected_reads += other.corrected_reads;
  corrected_bases += other.corrected_bases;
  merged_pairs += other.merged_pairs;
  add_each(insert_sizes, other.insert_sizes);
}

}  // namespace biogpu::qc
