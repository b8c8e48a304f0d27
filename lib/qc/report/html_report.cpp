#include "lib/qc/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/core/version.hpp"
#include "lib/qc/report/html_assets.hpp"
#include "lib/qc/report/html_page.hpp"
#include "lib/qc/report/html_stats.hpp"
#include "lib/qc/report/json_report.hpp"

namespace biogpu::qc {
namespace {

class Report {
 public:
  Report(const Summary& summary, const Options& options) : summary_(summary), options_(options) {}

  std::string write(const std::string& command) {
    const std::string title = html_escaped(options_.report_title);
    page_.put(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        title, page_style(), title);
    write_summary();
    if (options_.adapter_trimming && (options_.paired() || !options_.adapter1.empty()))
      write_adapters();
    if (options_.paired()) write_insert_size();
    write_stats("Before filtering", summary_.before, summary_.overrepresented_before, false);
    write_stats("After filtering", summary_.after, summary_.overrepresented_after, true);
    page_.put("<footer>{}<br>biogpu {} qc, results as of fastp {}</footer>\n",
              html_escaped(command), std::string_view(kVersion), fastp_version(options_.profile));
    page_.put("<script>{}</script>\n<script>\n{}</script>\n</body>\n</html>\n", chart_library(),
              page_script());
    return page_.take();
  }

 private:
  std::string sequencing() const {
    if (!options_.paired())
      return fmt::format("single end ({} cycles)", summary_.before[0].cycles.size());
    return fmt::format("paired end ({} cycles + {} cycles)", summary_.before[0].cycles.size(),
                       summary_.before[1].cycles.size());
  }

  static std::uint64_t mean_length(const ReadStats& stats) {
    return stats.n_reads == 0 ? 0 : stats.n_bases / stats.n_reads;
  }

  std::string lengths(const std::array<ReadStats, 2>& stats, bool two) const {
    if (two) return fmt::format("{}bp, {}bp", mean_length(stats[0]), mean_length(stats[1]));
    return fmt::format("{}bp", mean_length(stats[0]));
  }

  HtmlRows totals(const std::array<ReadStats, 2>& stats) const {
    const std::uint64_t n_bases = stats[0].n_bases + stats[1].n_bases;
    HtmlRows rows{{"total reads:", short_number(stats[0].n_reads + stats[1].n_reads)},
                  {"total bases:", short_number(n_bases)},
                  {"Q20 bases:", with_percent(stats[0].q20_bases + stats[1].q20_bases, n_bases)},
                  {"Q30 bases:", with_percent(stats[0].q30_bases + stats[1].q30_bases, n_bases)}};
    if (options_.follows_fastp_1())
      rows.emplace_back("Q40 bases:",
                        with_percent(stats[0].q40_bases + stats[1].q40_bases, n_bases));
    rows.emplace_back(
        "GC content:",
        fmt::format("{:f}%", percent(stats[0].gc_bases() + stats[1].gc_bases(), n_bases)));
    return rows;
  }

  void write_summary() {
    const bool merged = options_.merge;
    const std::uint64_t n_reads = summary_.before[0].n_reads + summary_.before[1].n_reads;
    const std::uint64_t passed = summary_.counts.n_with(Verdict::passed);
    page_.put(
        "<p class='verdict'><b>{:.2f}%</b> of {} reads pass the filters; mean length {} before, {} "
        "after.</p>\n",
        percent(passed, n_reads), short_number(n_reads),
        lengths(summary_.before, options_.paired()),
        lengths(summary_.after, options_.paired() && !merged));
    page_.put("<h2>Summary</h2>\n<div id='summary' class='grid'>\n");
    HtmlRows rows{{"fastp version:", fastp_version(options_.profile)},
                  {"sequencing:", sequencing()},
                  {"mean length before filtering:", lengths(summary_.before, options_.paired())}};
    if (!merged)
      rows.emplace_back("mean length after filtering:", lengths(summary_.after, options_.paired()));
    if (options_.duplicates)
      rows.emplace_back("duplication rate:",
                        fmt::format("{:f}%{}", 100.0 * summary_.duplication_rate(),
                                    options_.paired() ? ""
                                                      : " (may be overestimated since this is SE "
                                                        "data)"));
    if (options_.paired())
      rows.emplace_back("Insert size peak:", fmt::format("{}", summary_.insert_size_peak()));
    page_.put_table("general", "General", rows);
    page_.put_table("before_filtering_summary", "Before filtering", totals(summary_.before));
    page_.put_table("after_filtering_summary", "After filtering", totals(summary_.after));
    write_filtering(n_reads);
    page_.put("</div>\n");
  }

  void write_filtering(std::uint64_t n_reads) {
    const FilterCounts& counts = summary_.counts;
    const std::uint64_t n_bases = summary_.before[0].n_bases + summary_.before[1].n_bases;
    HtmlRows rows;
    const auto row = [&](const char* name, std::uint64_t n) {
      rows.emplace_back(name, with_percent(n, n_reads));
    };
    row("reads passed filters:", counts.n_with(Verdict::passed));
    if (options_.correction) {
      row("reads corrected:", counts.corrected_reads);
      rows.emplace_back("bases corrected:", with_percent(counts.corrected_bases, n_bases));
    }
    row("reads with low quality:", counts.n_with(Verdict::low_quality));
    row("reads with too many N:", counts.n_with(Verdict::too_many_n));
    if (options_.length_filter) {
      row("reads too short:", counts.n_with(Verdict::too_short));
      if (options_.length_limit > 0) row("reads too long:", counts.n_with(Verdict::too_long));
    }
    if (options_.complexity_filter)
      row("reads with low complexity:", counts.n_with(Verdict::low_complexity));
    if (options_.follows_fastp_1() && options_.adapter_trimming)
      row("reads with adapter dimer:", counts.n_with(Verdict::adapter_dimer));
    page_.put_table("filtering_result", "Filtering result", rows);
  }

  void write_adapters() {
    page_.put("<h2>Adapters</h2>\n<div id='adapters' class='grid'>\n");
    for (std::size_t m = 0; m < (options_.paired() ? 2u : 1u); ++m) write_adapters_of(m);
    page_.put("</div>\n");
  }

  void write_adapters_of(std::size_t m) {
    const CommonTexts& adapters = summary_.adapters[m];
    page_.put("<div id='read{}_adapters'>\n<h3>Adapter or bad ligation of read{}</h3>\n", m + 1,
              m + 1);
    const std::uint64_t n_bases = summary_.before[0].n_bases + summary_.before[1].n_bases;
    const double share = percent(adapters.total_length, n_bases) * (options_.paired() ? 2 : 1);
    if (share < 1)
      page_.put(
          "<p class='tip'>The input has little adapter percentage (~{:f}%), probably it's trimmed "
          "before.</p>\n",
          share);
    page_.put("<table class='summary_table'>\n<tr><th>Sequence</th><th>Occurrences</th></tr>\n");
    const auto row = [&](const std::string& name, std::uint64_t n) {
      page_.put("<tr><td class='sequence'>{}</td><td>{}</td></tr>\n", html_escaped(name), n);
    };
    for (const auto& [adapter, n] : adapters.texts) row(adapter, n);
    if (adapters.n_others > 0)
      row(adapters.texts.empty() ? "all adapter sequences" : "other adapter sequences",
          adapters.n_others);
    page_.put("</table>\n</div>\n");
  }

  void write_insert_size() {
    const auto& sizes = summary_.counts.insert_sizes;
    const auto n_cycles =
        static_cast<int>(summary_.before[0].cycles.size() + summary_.before[1].cycles.size());
    const int limit = std::clamp(n_cycles - options_.overlap_require, 1, kMaxInsertSize);
    std::uint64_t total = sizes[kMaxInsertSize];
    for (int i = 0; i < limit; ++i) total += sizes[static_cast<std::size_t>(i)];
    std::vector<int> x;
    HtmlSeries series{"percent", "Percent (%)", {}};
    for (int i = 0; i < limit; ++i) {
      x.push_back(i);
      series.y.push_back(percent(sizes[static_cast<std::size_t>(i)], total));
    }
    page_.put("<h2>Insert size estimation</h2>\n<div id='insert_size'>\n");
    page_.put_chart("insert_size", "bar", x, {series}, "Insert size", "Read percent (%)");
    page_.put(
        "<p class='tip'>This estimation is based on paired-end overlap analysis, and there are "
        "{:f}% reads found not overlapped. The nonoverlapped read pairs may have insert size "
        "&lt;{} or &gt;{}, or contain too much sequencing errors to be detected as "
        "overlapped.</p>\n</div>\n",
        percent(sizes[kMaxInsertSize], total), options_.overlap_require, limit);
  }

  void write_stats(const char* stage, const std::array<ReadStats, 2>& stats,
                   const std::array<SequenceCounts, 2>& overrepresented, bool after) {
    const bool merged = after && options_.merge;
    page_.put("<h2>{}</h2>\n", stage);
    for (std::size_t m = 0; m < (options_.paired() && !merged ? 2u : 1u); ++m) {
      const std::string read = merged ? std::string("merged") : fmt::format("read{}", m + 1);
      put_read_stats(page_, stage, read, stats[m], overrepresented[m], options_);
    }
  }

  const Summary& summary_;
  const Options& options_;
  HtmlPage page_;
};

}  // namespace

std::string html_report(const Summary& summary, const Options& options,
                        const std::string& command) {
  return Report(summary, options).write(command);
}

}  // namespace biogpu::qc
