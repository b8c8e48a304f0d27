#include "lib/qc/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/core/version.hpp"
#include "lib/qc/prepare/known_adapters.hpp"
#include "lib/qc/report/html_assets.hpp"
#include "lib/qc/report/html_page.hpp"
#include "lib/qc/report/html_stats.hpp"
#include "lib/qc/report/json_report.hpp"
#include "lib/report/markup_text.hpp"

namespace biogpu::qc {
namespace {

class Report {
 public:
  Report(const Summary& summary, const Options& options) : summary_(summary), options_(options) {}

  std::string write(const std::string& command) {
    const std::string title = report::markup_escaped(options_.report_title);
    page_.put(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{0} - biogpu qc</title>\n<style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        title, page_style());
    write_verdict();
    write_summary();
    if (options_.adapter_trimming && (options_.paired() || !options_.adapter1.empty()))
      write_adapters();
    page_.put(
        "<p class='tip charts'>Drag across a chart to zoom in, double-click to see all of it. The "
        "charts of a read are zoomed together.</p>\n");
    write_mates();
    if (options_.paired()) write_insert_size();
    write_details(command);
    page_.put("<script>{}</script>\n<script>\n{}</script>\n</body>\n</html>\n", chart_library(),
              page_script());
    return page_.take();
  }

 private:
  struct Totals {
    std::uint64_t reads, bases, q20, q30, q40, gc;
    std::string lengths;
  };

  std::string sequencing() const {
    if (!options_.paired())
      return fmt::format("single end ({} cycles)", summary_.before[0].cycles.size());
    return fmt::format("paired end ({} cycles + {} cycles)", summary_.before[0].cycles.size(),
                       summary_.before[1].cycles.size());
  }

  static std::uint64_t mean_length(const ReadStats& stats) {
    return stats.n_reads == 0 ? 0 : stats.n_bases / stats.n_reads;
  }

  Totals totals(const std::array<ReadStats, 2>& stats, bool two) const {
    const ReadStats &one = stats[0], &other = stats[1];
    std::string lengths = number_text(mean_length(one));
    if (two) lengths = fmt::format("{} + {}", lengths, number_text(mean_length(other)));
    return {one.n_reads + other.n_reads,
            one.n_bases + other.n_bases,
            one.q20_bases + other.q20_bases,
            one.q30_bases + other.q30_bases,
            one.q40_bases + other.q40_bases,
            one.gc_bases() + other.gc_bases(),
            std::move(lengths)};
  }

  std::uint64_t n_reads_before() const {
    return summary_.before[0].n_reads + summary_.before[1].n_reads;
  }
  std::uint64_t n_bases_before() const {
    return summary_.before[0].n_bases + summary_.before[1].n_bases;
  }

  void write_verdict() {
    const std::uint64_t passed = summary_.counts.n_with(Verdict::passed);
    page_.put("<p class='tip'>Report of biogpu qc, {}</p>\n", sequencing());
    page_.put("<p class='verdict'><b>{}</b> of {} reads pass the filters.</p>\n",
              report::markup_escaped(percent_text(passed, n_reads_before())),
              number_text(n_reads_before()));
  }

  void write_summary() {
    page_.put("<h2>Summary</h2>\n<div id='summary' class='grid'>\n");
    write_before_after();
    write_filtering();
    page_.put("</div>\n");
  }

  void write_before_after() {
    const Totals before = totals(summary_.before, options_.paired());
    const Totals after = totals(summary_.after, options_.paired() && !options_.merge);
    HtmlRows rows{{"reads", number_text(before.reads), number_text(after.reads)},
                  {"bases", number_text(before.bases), number_text(after.bases)},
                  {"mean length", before.lengths, after.lengths}};
    const auto share = [&](const char* name, std::uint64_t Totals::*part) {
      rows.push_back(
          {name, percent_text(before.*part, before.bases), percent_text(after.*part, after.bases)});
    };
    share("Q20 bases", &Totals::q20);
    share("Q30 bases", &Totals::q30);
    if (options_.follows_fastp_1()) share("Q40 bases", &Totals::q40);
    share("GC content", &Totals::gc);
    page_.put_table("before_after", "Before and after filtering", {"", "before", "after"}, rows);
  }

  void write_filtering() {
    const FilterCounts& counts = summary_.counts;
    HtmlRows rows;
    const auto row = [&](const char* name, std::uint64_t n) {
      rows.push_back({name, number_text(n), percent_text(n, n_reads_before())});
    };
    row("reads that passed", counts.n_with(Verdict::passed));
    row("reads with low quality", counts.n_with(Verdict::low_quality));
    row("reads with too many N", counts.n_with(Verdict::too_many_n));
    if (options_.length_filter) {
      row("reads too short", counts.n_with(Verdict::too_short));
      if (options_.length_limit > 0) row("reads too long", counts.n_with(Verdict::too_long));
    }
    if (options_.complexity_filter)
      row("reads with low complexity", counts.n_with(Verdict::low_complexity));
    if (options_.follows_fastp_1() && options_.adapter_trimming)
      row("reads with adapter dimer", counts.n_with(Verdict::adapter_dimer));
    if (options_.correction) {
      row("reads corrected", counts.corrected_reads);
      rows.push_back({"bases corrected", number_text(counts.corrected_bases),
                      percent_text(counts.corrected_bases, n_bases_before())});
    }
    if (options_.duplicates)
      rows.push_back({options_.paired() ? "duplicate pairs" : "duplicates, perhaps overestimated",
                      number_text(summary_.n_duplicates),
                      percent_text(summary_.n_duplicates, summary_.n_evaluated)});
    if (options_.paired())
      rows.push_back({"most frequent insert size",
                      number_text(static_cast<std::uint64_t>(summary_.insert_size_peak())), ""});
    page_.put_table("filtering_result", "Filtering result", {"", "number", "share"}, rows);
  }

  // The adapter that the options hold with its name, or why there is none.
  std::string adapter_text(const std::string& adapter) const {
    if (adapter.empty()) return "none was detected";
    if (adapter == "auto")
      return options_.paired() ? "not looked for; mates are trimmed by their overlap"
                               : "not looked for in a stream";
    std::string text = adapter;
    std::string_view name = known_adapter_name(adapter);
    if (!name.empty()) text += fmt::format(" ({})", name.substr(1));  // without its '>'
    return text;
  }

  void write_adapters() {
    const FilterCounts& counts = summary_.counts;
    page_.put("<h2>Adapters</h2>\n<div id='adapters'>\n<table class='texts'>\n");
    const auto row = [&](const std::string& name, const std::string& text) {
      page_.put("<tr><td>{}</td><td>{}</td></tr>\n", name, report::markup_escaped(text));
    };
    row("adapter of read 1", adapter_text(options_.adapter1));
    if (options_.paired()) row("adapter of read 2", adapter_text(options_.adapter2));
    if (!options_.fasta_adapters.empty())
      row("adapters of the list", number_text(options_.fasta_adapters.size()));
    const auto with_share = [&](std::uint64_t n, std::uint64_t whole) {
      return fmt::format("{} ({})", number_text(n), percent_text(n, whole));
    };
    row("reads trimmed", with_share(counts.adapter_reads, n_reads_before()));
    row("bases trimmed", with_share(counts.adapter_bases, n_bases_before()));
    page_.put("</table>\n");
    for (std::size_t m = 0; m < (options_.paired() ? 2u : 1u); ++m) write_adapters_of(m);
    page_.put("</div>\n");
  }

  void write_adapters_of(std::size_t m) {
    const CommonTexts& adapters = summary_.adapters[m];
    page_.put(
        "<details id='read{0}_adapters'><summary>Sequences trimmed off read {0}</summary>\n"
        "<table>\n<tr><th>sequence</th><th>reads</th></tr>\n",
        m + 1);
    const auto row = [&](const std::string& name, std::uint64_t n) {
      page_.put("<tr><td class='sequence'>{}</td><td>{}</td></tr>\n", report::markup_escaped(name),
                number_text(n));
    };
    for (const auto& [adapter, n] : adapters.texts) row(adapter, n);
    if (adapters.n_others > 0)
      row(adapters.texts.empty() ? "all sequences, each below 1 %" : "others, each below 1 %",
          adapters.n_others);
    page_.put("</table>\n</details>\n");
  }

  void write_mates() {
    const char* const kBefore = "Before filtering";
    const char* const kAfter = "After filtering";
    for (std::size_t m = 0; m < (options_.paired() ? 2u : 1u); ++m) {
      const std::string read = fmt::format("read{}", m + 1);
      std::vector<HtmlReads> sets{
          {kBefore, read, summary_.before[m], summary_.overrepresented_before[m]}};
      if (!options_.merge)
        sets.push_back({kAfter, read, summary_.after[m], summary_.overrepresented_after[m]});
      put_read_stats(page_, options_.paired() ? fmt::format("Read {}", m + 1) : "Reads", sets,
                     options_);
    }
    if (options_.merge)
      put_read_stats(page_, "Merged reads",
                     {{kAfter, "merged", summary_.after[0], summary_.overrepresented_after[0]}},
                     options_);
  }

  void write_insert_size() {
    const auto& sizes = summary_.counts.insert_sizes;
    const auto n_cycles =
        static_cast<int>(summary_.before[0].cycles.size() + summary_.before[1].cycles.size());
    const int limit = std::clamp(n_cycles - options_.overlap_require, 1, kMaxInsertSize);
    std::uint64_t total = sizes[kMaxInsertSize];
    for (int i = 0; i < limit; ++i) total += sizes[static_cast<std::size_t>(i)];
    HtmlChart chart{"insert_size",
                    "Insert sizes",
                    "Insert sizes",
                    "area",
                    "insert",
                    "insert size (bases)",
                    "share of pairs (%)",
                    {},
                    {},
                    {{"percent", "share of pairs", {}}}};
    for (int i = 0; i < limit; ++i) {
      chart.x.push_back(i);
      chart.series[0].y.push_back(percent(sizes[static_cast<std::size_t>(i)], total));
    }
    chart.y_range.max = std::max(range_of(chart.series).max * 1.05, 0.1);
    page_.put("<h2>Insert size</h2>\n<div id='insert_size'>\n");
    page_.put_chart(chart);
    page_.put(
        "<p class='tip'>From the overlap of the mates in {} pairs. The mates of {} of these pairs "
        "do not overlap: their inserts are shorter than {} bases or longer than {}, or they have "
        "too many errors.</p>\n</div>\n",
        number_text(total), report::markup_escaped(percent_text(sizes[kMaxInsertSize], total)),
        options_.overlap_require, limit);
  }

  void write_details(const std::string& command) {
    page_.put(
        "<details id='details'><summary>About this report</summary>\n<table class='texts'>\n");
    const auto row = [&](const char* name, const std::string& text) {
      page_.put("<tr><td>{}</td><td>{}</td></tr>\n", name, report::markup_escaped(text));
    };
    row("program", fmt::format("biogpu {} qc", std::string_view(kVersion)));
    row("results as of", fmt::format("fastp {}", fastp_version(options_.profile)));
    row("sequencing", sequencing());
    row("command", command);
    page_.put("</table>\n</details>\n");
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
