#include "lib/qc/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/qc/report/html_assets.hpp"
#include "lib/qc/report/json_report.hpp"

namespace biogpu::qc {
namespace {

constexpr std::string_view kBases = "ATCG";
constexpr int kMostPoints = 300;  // of a curve; longer reads are averaged

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// "12.345678 M", as fastp shows large numbers.
std::string short_number(std::uint64_t n) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " K"}};
  for (const auto& [unit, name] : kUnits)
    if (static_cast<double>(n) >= unit)
      return fmt::format("{:f}{}", static_cast<double>(n) / unit, name);
  return fmt::format("{}", n);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string with_percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{} ({:f}%)", short_number(part), percent(part, whole));
}

using Rows = std::vector<std::pair<std::string, std::string>>;

struct Series {
  std::string name;
  std::string label;
  std::vector<double> y;
};

class Page {
 public:
  Page(const Summary& summary, const Options& options) : summary_(summary), options_(options) {}

  std::string write(const std::string& command) {
    const std::string title = escaped(options_.report_title);
    put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        title, page_style(), title);
    write_summary();
    if (options_.adapter_trimming && (options_.paired() || !options_.adapter1.empty()))
      write_adapters();
    if (options_.paired()) write_insert_size();
    write_stats("Before filtering", summary_.before, summary_.overrepresented_before, false);
    write_stats("After filtering", summary_.after, summary_.overrepresented_after, true);
    put("<footer>{}<br>biogpu qc, results as of fastp {}</footer>\n", escaped(command),
        fastp_version(options_.profile));
    put("<script>{}</script>\n<script>\n{}</script>\n</body>\n</html>\n", chart_library(),
        page_script());
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void write_table(const std::string& id, const std::string& heading, const Rows& rows) {
    put("<div id='{}'>\n<h3>{}</h3>\n<table class='summary_table'>\n", id, heading);
    for (const auto& [name, value] : rows) put("<tr><td>{}</td><td>{}</td></tr>\n", name, value);
    put("</table>\n</div>\n");
  }

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

  Rows totals(const std::array<ReadStats, 2>& stats) const {
    const std::uint64_t n_bases = stats[0].n_bases + stats[1].n_bases;
    return {{"total reads:", short_number(stats[0].n_reads + stats[1].n_reads)},
            {"total bases:", short_number(n_bases)},
            {"Q20 bases:", with_percent(stats[0].q20_bases + stats[1].q20_bases, n_bases)},
            {"Q30 bases:", with_percent(stats[0].q30_bases + stats[1].q30_bases, n_bases)},
            {"GC content:",
             fmt::format("{:f}%", percent(stats[0].gc_bases() + stats[1].gc_bases(), n_bases))}};
  }

  void write_summary() {
    const bool merged = options_.merge;
    const std::uint64_t n_reads = summary_.before[0].n_reads + summary_.before[1].n_reads;
    const std::uint64_t passed = summary_.tally.n_with(Verdict::passed);
    put("<p class='verdict'><b>{:.2f}%</b> of {} reads pass the filters; mean length {} before, {} "
        "after.</p>\n",
        percent(passed, n_reads), short_number(n_reads),
        lengths(summary_.before, options_.paired()),
        lengths(summary_.after, options_.paired() && !merged));
    put("<h2>Summary</h2>\n<div id='summary' class='grid'>\n");
    Rows rows{{"fastp version:", fastp_version(options_.profile)},
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
    write_table("general", "General", rows);
    write_table("before_filtering_summary", "Before filtering", totals(summary_.before));
    write_table("after_filtering_summary", "After filtering", totals(summary_.after));
    write_filtering(n_reads);
    put("</div>\n");
  }

  void write_filtering(std::uint64_t n_reads) {
    const Tally& tally = summary_.tally;
    const std::uint64_t n_bases = summary_.before[0].n_bases + summary_.before[1].n_bases;
    Rows rows;
    const auto row = [&](const char* name, std::uint64_t n) {
      rows.emplace_back(name, with_percent(n, n_reads));
    };
    row("reads passed filters:", tally.n_with(Verdict::passed));
    if (options_.correction) {
      row("reads corrected:", tally.corrected_reads);
      rows.emplace_back("bases corrected:", with_percent(tally.corrected_bases, n_bases));
    }
    row("reads with low quality:", tally.n_with(Verdict::low_quality));
    row("reads with too many N:", tally.n_with(Verdict::too_many_n));
    if (options_.length_filter) {
      row("reads too short:", tally.n_with(Verdict::too_short));
      if (options_.length_limit > 0) row("reads too long:", tally.n_with(Verdict::too_long));
    }
    if (options_.complexity_filter)
      row("reads with low complexity:", tally.n_with(Verdict::low_complexity));
    write_table("filtering_result", "Filtering result", rows);
  }

  void write_adapters() {
    put("<h2>Adapters</h2>\n<div id='adapters' class='grid'>\n");
    for (std::size_t m = 0; m < (options_.paired() ? 2u : 1u); ++m) write_adapters_of(m);
    put("</div>\n");
  }

  void write_adapters_of(std::size_t m) {
    const auto counts = summary_.tally.adapters[m].list();
    std::uint64_t total = 0;
    std::uint64_t bases = 0;
    for (const auto& [adapter, n] : counts) {
      total += n;
      bases += n * adapter.size();
    }
    put("<div id='read{}_adapters'>\n<h3>Adapter or bad ligation of read{}</h3>\n", m + 1, m + 1);
    const std::uint64_t n_bases = summary_.before[0].n_bases + summary_.before[1].n_bases;
    const double share = percent(bases, n_bases) * (options_.paired() ? 2 : 1);
    if (share < 1)
      put("<p class='tip'>The input has little adapter percentage (~{:f}%), probably it's trimmed "
          "before.</p>\n",
          share);
    std::vector<std::pair<std::string, std::uint64_t>> common;
    std::uint64_t n_common = 0;
    for (const auto& [adapter, n] : counts)
      if (static_cast<double>(n) / static_cast<double>(total) >= 0.01) {
        common.emplace_back(adapter, n);
        n_common += n;
      }
    std::sort(common.begin(), common.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
    });
    if (total > n_common)
      common.emplace_back(n_common == 0 ? "all adapter sequences" : "other adapter sequences",
                          total - n_common);
    put("<table class='summary_table'>\n<tr><th>Sequence</th><th>Occurrences</th></tr>\n");
    for (const auto& [adapter, n] : common)
      put("<tr><td class='sequence'>{}</td><td>{}</td></tr>\n", escaped(adapter), n);
    put("</table>\n</div>\n");
  }

  void write_chart(const std::string& id, const char* type, const std::vector<int>& x,
                   const std::vector<Series>& series, const char* x_title, const char* y_title) {
    put("<div class='figure' id='plot_{0}'><canvas data-chart='data_{0}' role='img' "
        "aria-label='{1} by {2}; the numbers are in the JSON report'></canvas></div>\n",
        id, y_title, x_title);
    put("<script type='application/json' id='data_{}'>{{\"type\":\"{}\",\"xTitle\":\"{}\","
        "\"yTitle\":\"{}\",\"x\":[{}],\"series\":[",
        id, type, x_title, y_title, fmt::join(x, ","));
    bool first = true;
    for (const Series& one : series) {
      put("{}{{\"name\":\"{}\",\"label\":\"{}\",\"y\":[", first ? "" : ",", one.name, one.label);
      for (std::size_t i = 0; i < one.y.size(); ++i) put("{}{:.5g}", i == 0 ? "" : ",", one.y[i]);
      put("]}}");
      first = false;
    }
    put("]}}</script>\n");
  }

  void write_insert_size() {
    const auto& sizes = summary_.tally.insert_sizes;
    const auto n_cycles =
        static_cast<int>(summary_.before[0].cycles.size() + summary_.before[1].cycles.size());
    const int limit = std::clamp(n_cycles - options_.overlap_require, 1, kMaxInsertSize);
    std::uint64_t total = sizes[kMaxInsertSize];
    for (int i = 0; i < limit; ++i) total += sizes[static_cast<std::size_t>(i)];
    std::vector<int> x;
    Series series{"percent", "Percent (%)", {}};
    for (int i = 0; i < limit; ++i) {
      x.push_back(i);
      series.y.push_back(percent(sizes[static_cast<std::size_t>(i)], total));
    }
    put("<h2>Insert size estimation</h2>\n<div id='insert_size'>\n");
    write_chart("insert_size", "bar", x, {series}, "Insert size", "Read percent (%)");
    put("<p class='tip'>This estimation is based on paired-end overlap analysis, and there are "
        "{:f}% reads found not overlapped. The nonoverlapped read pairs may have insert size "
        "&lt;{} or &gt;{}, or contain too much sequencing errors to be detected as "
        "overlapped.</p>\n</div>\n",
        percent(sizes[kMaxInsertSize], total), options_.overlap_require, limit);
  }

  // Cycles in runs of equal length, few enough for a chart; x is the last cycle of each, from 1.
  static std::vector<int> chart_cycles(const ReadStats& stats) {
    const auto n = static_cast<int>(stats.cycles.size());
    const int step = (n + kMostPoints - 1) / kMostPoints;
    std::vector<int> x;
    for (int c = 0; c < n; c += step) x.push_back(std::min(c + step, n));
    return x;
  }

  template <class Value>
  static std::vector<double> curve(const ReadStats& stats, const std::vector<int>& x, Value value) {
    std::vector<double> y;
    int c = 0;
    for (const int end : x) {
      double sum = 0;
      const int n = end - c;
      for (; c < end; ++c) sum += value(stats.cycles[static_cast<std::size_t>(c)]);
      y.push_back(sum / n);
    }
    return y;
  }

  static double mean_quality(const CycleSums& cycle) {
    return static_cast<double>(cycle.all_quality) / static_cast<double>(cycle.all_bases);
  }

  void write_stats(const char* stage, const std::array<ReadStats, 2>& stats,
                   const std::array<SequenceCounts, 2>& overrepresented, bool after) {
    const bool merged = after && options_.merge;
    put("<h2>{}</h2>\n", stage);
    for (std::size_t m = 0; m < (options_.paired() && !merged ? 2u : 1u); ++m) {
      const std::string read = merged ? std::string("merged") : fmt::format("read{}", m + 1);
      write_read(stage, read, stats[m], overrepresented[m]);
    }
  }

  // fastp's id: "Before_filtering__read1__quality".
  static std::string id_of(std::string stage, const std::string& read, const char* what) {
    std::replace(stage.begin(), stage.end(), ' ', '_');
    return stage + "__" + read + "__" + what;
  }

  void write_read(const char* stage, const std::string& read, const ReadStats& stats,
                  const SequenceCounts& overrepresented) {
    put("<div class='grid wide'>\n");
    write_quality(id_of(stage, read, "quality"), fmt::format("{}: {}: quality", stage, read),
                  stats);
    write_contents(id_of(stage, read, "base_contents"),
                   fmt::format("{}: {}: base contents", stage, read), stats);
    put("</div>\n");
    write_kmers(id_of(stage, read, "KMER_counting"),
                fmt::format("{}: {}: KMER counting", stage, read), stats);
    if (options_.overrepresentation)
      write_overrepresented(id_of(stage, read, "overrepresented_sequences"),
                            fmt::format("{}: {}: overrepresented sequences", stage, read), stats,
                            overrepresented);
  }

  void write_quality(const std::string& id, const std::string& heading, const ReadStats& stats) {
    const std::vector<int> x = chart_cycles(stats);
    std::vector<Series> series;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::string name(1, kBases[k]);
      series.push_back({name, name, curve(stats, x, [k](const CycleSums& cycle) {
                          return cycle.bases[k] == 0 ? mean_quality(cycle)
                                                     : static_cast<double>(cycle.quality[k]) /
                                                           static_cast<double>(cycle.bases[k]);
                        })});
    }
    series.push_back({"mean", "mean", curve(stats, x, mean_quality)});
    put("<div id='{}'>\n<h3>{}</h3>\n", id, heading);
    write_chart(id, "line", x, series, "position", "quality");
    put("</div>\n");
  }

  void write_contents(const std::string& id, const std::string& heading, const ReadStats& stats) {
    constexpr const char* kNames[] = {"A", "T", "C", "G", "N", "GC"};
    const std::vector<int> x = chart_cycles(stats);
    std::vector<Series> series;
    for (std::size_t k = 0; k < 6; ++k) {
      const auto count = [k](const CycleSums& cycle) {
        return k < kLetters ? cycle.bases[k] : cycle.bases[2] + cycle.bases[3];
      };
      std::uint64_t total = 0;
      for (const CycleSums& cycle : stats.cycles) total += count(cycle);
      series.push_back({kNames[k],
                        fmt::format("{} ({:.2f}%)", kNames[k], percent(total, stats.n_bases)),
                        curve(stats, x, [&](const CycleSums& cycle) {
                          return percent(count(cycle), cycle.all_bases) / 100;
                        })});
    }
    put("<div id='{}'>\n<h3>{}</h3>\n", id, heading);
    write_chart(id, "line", x, series, "position", "base content ratios");
    put("</div>\n");
  }

  // 5-mers: rows by the first two letters, columns by the last three; darker is more frequent.
  void write_kmers(const std::string& id, const std::string& heading, const ReadStats& stats) {
    const std::uint64_t most = *std::max_element(stats.kmers.begin(), stats.kmers.end());
    put("<details id='{}'><summary>{}</summary>\n<div class='scroll'><table class='kmers'>\n", id,
        heading);
    for (std::size_t k = 0; k < kKmers; ++k) {
      std::string name;
      for (int shift = 8; shift >= 0; shift -= 2) name += kBases[k >> shift & 3];
      const int light = 97 - static_cast<int>(percent(stats.kmers[k], most) * 0.45);
      put("{}<td style='background:hsl(200 60% {}%)' title='{}'>{}</td>{}",
          k % 64 == 0 ? "<tr>" : "", light, stats.kmers[k], name, k % 64 == 63 ? "</tr>\n" : "");
    }
    put("</table></div></details>\n");
  }

  void write_overrepresented(const std::string& id, const std::string& heading,
                             const ReadStats& stats, const SequenceCounts& sequences) {
    const int sampling = options_.overrepresentation_sampling;
    put("<div id='{}'>\n<h3>{}</h3>\n<p class='tip'>Sampling rate: 1 / {}</p>\n"
        "<table class='summary_table'>\n<tr><th>overrepresented sequence</th><th>count (% of "
        "bases)</th></tr>\n",
        id, heading, sampling);
    bool any = false;
    for (const auto& [sequence, n] : sequences) {
      if (!is_overrepresented(sequence, n, sampling)) continue;
      const std::uint64_t bases = n * sequence.size() * static_cast<std::uint64_t>(sampling);
      put("<tr><td class='sequence'>{}</td><td>{} ({:f}%)</td></tr>\n", sequence, n,
          percent(bases, stats.n_bases));
      any = true;
    }
    put("</table>\n{}</div>\n", any ? "" : "<p>not found</p>\n");
  }

  const Summary& summary_;
  const Options& options_;
  std::string text_;
};

}  // namespace

std::string html_report(const Summary& summary, const Options& options,
                        const std::string& command) {
  return Page(summary, options).write(command);
}

}  // namespace biogpu::qc
