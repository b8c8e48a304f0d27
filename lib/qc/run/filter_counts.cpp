#include "lib/qc/run/filter_counts.hpp"

namespace biogpu::qc {
namespace {

template <class Array>
void add_each(Array& to, const Array& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void count_poly_x(FilterCounts& counts, const PolyX& poly_x) {
  if (!poly_x.found) return;
  const auto base = static_cast<std::size_t>(poly_x.base);
  ++counts.poly_x_reads[base];
  counts.poly_x_bases[base] += static_cast<std::uint64_t>(poly_x.length);
}

}  // namespace

void FilterCounts::count_adapter(std::size_t mate, std::string_view adapter) {
  adapter_bases += adapter.size();
  if (!adapter.empty()) adapters[mate].add(adapter, 1);
}

void FilterCounts::count_single(const MateNotes& notes) {
  adapter_reads += notes.found_adapter();
  count_adapter(0, notes.adapter);
  for (const std::string_view adapter : notes.fasta_adapters) count_adapter(0, adapter);
  count_poly_x(*this, notes.poly_x);
}

void FilterCounts::count_pair(const PairNotes& notes, std::size_t n_corrections,
                              bool with_insert_size) {
  for (std::size_t m = 0; m < 2; ++m) {
    adapter_reads += notes.cut_by_overlap || notes.mate[m].found_adapter();
    count_adapter(m, notes.mate[m].adapter);
    for (const std::string_view adapter : notes.mate[m].fasta_adapters) count_adapter(m, adapter);
    count_poly_x(*this, notes.mate[m].poly_x);
  }
  corrected_reads += static_cast<std::uint64_t>(notes.n_corrected_mates);
  corrected_bases += n_corrections;
  if (with_insert_size && notes.insert_size >= 0)
    ++insert_sizes[static_cast<std::size_t>(notes.insert_size)];
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
