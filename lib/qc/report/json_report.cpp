#include "lib/qc/report/json_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lib/core/version.hpp"

namespace biogpu::qc {
namespace {

constexpr std::string_view kJsonBases = "ATCG";

class Writer {
 public:
  Writer(const Summary& summary, const Options& options) : summary_(summary), options_(options) {}

  std::string write(const std::string& command) {
    put("{{\n");
    write_summary();
    write_filtering();
    if (options_.duplicates)
      put("\t\"duplication\": {{\n\t\t\"rate\": {:g}\n\t}},\n", summary_.duplication_rate());
    if (options_.paired()) write_insert_size();
    if (options_.adapter_trimming && (options_.paired() || !options_.adapter1.empty()))
      write_adapters();
    if (options_.trim_poly_x) write_poly_x();
    const std::size_t n_mates = options_.paired() ? 2 : 1;
    for (std::size_t m = 0; m < n_mates; ++m)
      write_stats(fmt::format("read{}_before_filtering", m + 1), summary_.before[m],
                  summary_.overrepresented_before[m]);
    if (options_.merge)
      write_stats("merged_and_filtered", summary_.after[0], summary_.overrepresented_after[0]);
    else
      for (std::size_t m = 0; m < n_mates; ++m)
        write_stats(fmt::format("read{}_after_filtering", m + 1), summary_.after[m],
                    summary_.overrepresented_after[m]);
    put("\t\"command\": {},\n", quoted(command));
    write_own();
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  // Any bytes as a JSON string; those that are no UTF-8 become U+FFFD.
  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  static double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  }

  static std::uint64_t mean_length(const ReadStats& stats) {
    return stats.n_reads == 0 ? 0 : stats.n_bases / stats.n_reads;
  }

  void write_totals(const char* name, const std::array<ReadStats, 2>& stats, bool two) {
    const auto sum = [&](auto value) { return value(stats[0]) + value(stats[1]); };
    const auto n_bases = sum([](const ReadStats& s) { return s.n_bases; });
    const auto q20 = sum([](const ReadStats& s) { return s.q20_bases; });
    const auto q30 = sum([](const ReadStats& s) { return s.q30_bases; });
    put("\t\t\"{}\": {{\n", name);
    put("\t\t\t\"total_reads\":{},\n", sum([](const ReadStats& s) { return s.n_reads; }));
    put("\t\t\t\"total_bases\":{},\n", n_bases);
    put("\t\t\t\"q20_bases\":{},\n\t\t\t\"q30_bases\":{},\n", q20, q30);
    put("\t\t\t\"q20_rate\":{:g},\n\t\t\t\"q30_rate\":{:g},\n", ratio(q20, n_bases),
        ratio(q30, n_bases));
    put("\t\t\t\"read1_mean_length\":{},\n", mean_length(stats[0]));
    if (two) put("\t\t\t\"read2_mean_length\":{},\n", mean_length(stats[1]));
    put("\t\t\t\"gc_content\":{:g}\n\t\t}}",
        ratio(sum([](const ReadStats& s) { return s.gc_bases(); }), n_bases));
  }

  // One line, with which programs that compare with fastp's report can do without.
  void write_own() {
    const Flow& flow = summary_.flow;
    put("\t\"biogpu\": {{\"version\": \"{}\", \"reads\": {{\"in\": {}", std::string_view(kVersion),
        flow.reads_in());
    constexpr std::array<const char*, kFates> kNames = {"passed", "unpaired", "filtered",
                                                        "duplicates", "index_listed"};
    for (std::size_t f = 0; f < kFates; ++f) put(", \"{}\": {}", kNames[f], flow.reads[f]);
    put("}}, \"bases\": {{\"in\": {}, \"out\": {}, \"removed\": {}, \"trimmed\": {}}}}}\n}}\n",
        flow.bases_in(), flow.bases_out, flow.bases_removed(), flow.bases_trimmed());
  }

  void write_summary() {
    put("\t\"summary\": {{\n\t\t\"fastp_version\": \"{}\",\n", fastp_version(options_.profile));
    const std::size_t cycles1 = summary_.before[0].cycles.size();
    if (options_.paired())
      put("\t\t\"sequencing\": \"paired end ({} cycles + {} cycles)\",\n", cycles1,
          summary_.before[1].cycles.size());
    else
      put("\t\t\"sequencing\": \"single end ({} cycles)\",\n", cycles1);
    write_totals("before_filtering", summary_.before, options_.paired());
    put(",\n");
    write_totals("after_filtering", summary_.after, options_.paired() && !options_.merge);
    put("\n\t}},\n");
  }

  void write_filtering() {
    const FilterCounts& counts = summary_.counts;
    put("\t\"filtering_result\": {{\n\t\t\"passed_filter_reads\": {},\n",
        counts.n_with(Verdict::passed));
    if (options_.correction)
      put("\t\t\"corrected_reads\": {},\n\t\t\"corrected_bases\": {},\n", counts.corrected_reads,
          counts.corrected_bases);
    put("\t\t\"low_quality_reads\": {},\n", counts.n_with(Verdict::low_quality));
    put("\t\t\"too_many_N_reads\": {},\n", counts.n_with(Verdict::too_many_n));
    if (options_.complexity_filter)
      put("\t\t\"low_complexity_reads\": {},\n", counts.n_with(Verdict::low_complexity));
    if (options_.follows_fastp_1() && options_.adapter_trimming)
      put("\t\t\"adapter_dimer_reads\": {},\n", counts.n_with(Verdict::adapter_dimer));
    put("\t\t\"too_short_reads\": {},\n", counts.n_with(Verdict::too_short));
    put("\t\t\"too_long_reads\": {}\n\t}},\n", counts.n_with(Verdict::too_long));
  }

  void write_insert_size() {
    const auto& sizes = summary_.counts.insert_sizes;
    put("\t\"insert_size\": {{\n\t\t\"peak\": {},\n\t\t\"unknown\": {},\n\t\t\"histogram\": [",
        summary_.insert_size_peak(), sizes[kMaxInsertSize]);
    for (std::size_t i = 0; i < kMaxInsertSize; ++i) put("{}{}", i == 0 ? "" : ",", sizes[i]);
    put("]\n\t}},\n");
  }

  // Adapters with a share of one percent or more, short ones first; the rest as "others".
  void write_adapter_counts(const CommonTexts& adapters) {
    const char* separator = "";
    for (const auto& [adapter, n] : adapters.texts) {
      put("{}{}:{}", separator, quoted(adapter), n);
      separator = ", ";
    }
    if (adapters.n_others > 0) put("{}{}:{}", separator, quoted("others"), adapters.n_others);
  }

  static std::string named(const std::string& adapter) {
    return adapter.empty() || adapter == "auto" ? "unspecified" : adapter;
  }

  void write_adapters() {
    const FilterCounts& counts = summary_.counts;
    put("\t\"adapter_cutting\": {{\n\t\t\"adapter_trimmed_reads\": {},\n", counts.adapter_reads);
    put("\t\t\"adapter_trimmed_bases\": {},\n", counts.adapter_bases);
    put("\t\t\"read1_adapter_sequence\": {},\n", quoted(named(options_.adapter1)));
    if (options_.paired())
      put("\t\t\"read2_adapter_sequence\": {},\n", quoted(named(options_.adapter2)));
    put("\t\t\"read1_adapter_counts\": {{");
    write_adapter_counts(summary_.adapters[0]);
    if (options_.paired()) {
      put("}},\n\t\t\"read2_adapter_counts\": {{");
      write_adapter_counts(summary_.adapters[1]);
    }
    put("}}\n\t}},\n");
  }

  void write_poly_x_counts(const char* what, const std::array<std::uint64_t, 4>& counts) {
    put("\t\t\"total_{}\": {},\n", what, counts[0] + counts[1] + counts[2] + counts[3]);
    put("\t\t\"{}\":{{", what);
    for (std::size_t b = 0; b < 4; ++b)
      put("{}\"{}\": {}", b == 0 ? "" : ", ", kJsonBases[b], counts[b]);
    put("}}");
  }

  void write_poly_x() {
    put("\t\"polyx_trimming\": \t{{\n");
    write_poly_x_counts("polyx_trimmed_reads", summary_.counts.poly_x_reads);
    put(",\n");
    write_poly_x_counts("polyx_trimmed_bases", summary_.counts.poly_x_bases);
    put("\n\t}},\n");
  }

  template <class Value>
  void write_curve(const char* name, const ReadStats& stats, bool last, Value value) {
    put("\t\t\t\"{}\":[", name);
    for (std::size_t c = 0; c < stats.cycles.size(); ++c)
      put("{}{:g}", c == 0 ? "" : ",", value(stats.cycles[c]));
    put("]{}\n", last ? "" : ",");
  }

  static double mean_quality(const CycleSums& cycle) {
    return static_cast<double>(cycle.all_quality) / static_cast<double>(cycle.all_bases);
  }

  void write_curves(const ReadStats& stats) {
    static constexpr const char* kNames[] = {"A", "T", "C", "G", "N"};
    put("\t\t\"quality_curves\": {{\n");
    for (std::size_t k = 0; k < 4; ++k)
      write_curve(kNames[k], stats, false, [k](const CycleSums& cycle) {
        if (cycle.bases[k] == 0) return mean_quality(cycle);
        return static_cast<double>(cycle.quality[k]) / static_cast<double>(cycle.bases[k]);
      });
    write_curve("mean", stats, true, mean_quality);
    put("\t\t}},\n\t\t\"content_curves\": {{\n");
    for (std::size_t k = 0; k < kLetters; ++k)
      write_curve(kNames[k], stats, false,
                  [k](const CycleSums& cycle) { return ratio(cycle.bases[k], cycle.all_bases); });
    write_curve("GC", stats, true, [](const CycleSums& cycle) {
      return ratio(cycle.bases[2] + cycle.bases[3], cycle.all_bases);
    });
    put("\t\t}},\n");
  }

  void write_kmers(const ReadStats& stats) {
    put("\t\t\"kmer_count\": {{\n");
    for (std::size_t k = 0; k < kKmers; ++k) {
      char name[5];
      for (std::size_t i = 0; i < 5; ++i) name[i] = kJsonBases[k >> (8 - 2 * i) & 3];
      put("{}\"{}\":{}", k % 16 == 0 ? "\t\t\t" : ",\t\t\t", std::string_view(name, 5),
          stats.kmers[k]);
      if (k % 16 == 15) put("{}\n", k + 1 == kKmers ? "" : ",");
    }
    put("\t\t}},\n");
  }

  void write_stats(const std::string& name, const ReadStats& stats,
                   const SequenceCounts& overrepresented) {
    put("\t\"{}\": {{\n", name);
    put("\t\t\"total_reads\": {},\n\t\t\"total_bases\": {},\n", stats.n_reads, stats.n_bases);
    put("\t\t\"q20_bases\": {},\n\t\t\"q30_bases\": {},\n", stats.q20_bases, stats.q30_bases);
    if (options_.profile == Profile::fastp_1) put("\t\t\"q40_bases\": {},\n", stats.q40_bases);
    put("\t\t\"total_cycles\": {},\n", stats.cycles.size());
    write_curves(stats);
    write_kmers(stats);
    put("\t\t\"overrepresented_sequences\": {{\n");
    bool first = true;
    for (const auto& [sequence, n] : overrepresented) {
      if (!is_overrepresented(sequence, n, options_.overrepresentation_sampling)) continue;
      put("{}\t\t\t{}:{}", first ? "" : ",\n", quoted(sequence), n);
      first = false;
    }
    put("\t\t}}\n\t}},\n");
  }

  const Summary& summary_;
  const Options& options_;
  std::string text_;
};

}  // namespace

std::string fastp_version(Profile profile) {
  return profile == Profile::fastp_1 ? "1.3.7" : "0.23.2";
}

std::string json_report(const Summary& summary, const Options& options,
                        const std::string& command) {
  return Writer(summary, options).write(command);
}

}  // namespace biogpu::qc
