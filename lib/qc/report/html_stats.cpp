#include "lib/qc/report/html_stats.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "lib/report/markup_text.hpp"

namespace biogpu::qc {
namespace {

constexpr std::string_view kBases = "ATCG";
constexpr double kHighestQuality = 93;
constexpr int kMaxPoints = 300;  // of a curve; longer reads are averaged

// Cycles in runs of equal length, few enough for a chart; x is the last cycle of each, from 1.
std::vector<int> chart_cycles(const ReadStats& stats) {
  const auto n = static_cast<int>(stats.cycles.size());
  const int step = (n + kMaxPoints - 1) / kMaxPoints;
  std::vector<int> x;
  for (int c = 0; c < n; c += step) x.push_back(std::min(c + step, n));
  return x;
}

template <class Value>
std::vector<double> curve(const ReadStats& stats, const std::vector<int>& x, Value value) {
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

double mean_quality(const CycleSums& cycle) {
  return static_cast<double>(cycle.all_quality) / static_cast<double>(cycle.all_bases);
}

// fastp's id: "Before_filtering__read1__quality".
std::string id_of(const HtmlReads& reads, const char* what) {
  std::string stage = reads.stage;
  std::replace(stage.begin(), stage.end(), ' ', '_');
  return stage + "__" + reads.read + "__" + what;
}

std::string in_lower_case(std::string stage) {
  stage.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(stage.front())));
  return stage;
}

// "read 1 before filtering"
std::string name_of(const HtmlReads& reads) {
  if (reads.read == "merged") return fmt::format("merged reads {}", in_lower_case(reads.stage));
  return fmt::format("read {} {}", reads.read.substr(4), in_lower_case(reads.stage));
}

HtmlChart quality_chart(const HtmlReads& reads) {
  const ReadStats& stats = reads.stats;
  HtmlChart chart{id_of(reads, "quality"),
                  fmt::format("Quality {}", in_lower_case(reads.stage)),
                  fmt::format("Quality, {}", name_of(reads)),
                  "quality",
                  reads.read,
                  "position in the read",
                  "mean quality (Phred)",
                  {},
                  chart_cycles(stats),
                  {}};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::string name(1, kBases[k]);
    chart.series.push_back({name, name, curve(stats, chart.x, [k](const CycleSums& cycle) {
                              return cycle.bases[k] == 0 ? mean_quality(cycle)
                                                         : static_cast<double>(cycle.quality[k]) /
                                                               static_cast<double>(cycle.bases[k]);
                            })});
  }
  chart.series.push_back({"mean", "all bases", curve(stats, chart.x, mean_quality)});
  return chart;
}

HtmlChart contents_chart(const HtmlReads& reads) {
  constexpr const char* kNames[] = {"A", "T", "C", "G", "N", "GC"};
  const ReadStats& stats = reads.stats;
  HtmlChart chart{id_of(reads, "base_contents"),
                  fmt::format("Base content {}", in_lower_case(reads.stage)),
                  fmt::format("Base content, {}", name_of(reads)),
                  "line",
                  reads.read,
                  "position in the read",
                  "share of bases (%)",
                  {},
                  chart_cycles(stats),
                  {}};
  for (std::size_t k = 0; k < 6; ++k) {
    const auto count = [k](const CycleSums& cycle) {
      return k < kLetters ? cycle.bases[k] : cycle.bases[2] + cycle.bases[3];
    };
    std::uint64_t total = 0;
    for (const CycleSums& cycle : stats.cycles) total += count(cycle);
    chart.series.push_back(
        {kNames[k], fmt::format("{} {}", kNames[k], percent_text(total, stats.n_bases)),
         curve(stats, chart.x,
               [&](const CycleSums& cycle) { return percent(count(cycle), cycle.all_bases); })});
  }
  return chart;
}

// One axis for all charts, whose ends are multiples of a step; at least `least` high, at most to
// `top`.
void share_axis(std::vector<HtmlChart>& charts, double step, double least, double top) {
  bool first = true;
  HtmlRange all;
  for (const HtmlChart& chart : charts) {
    if (chart.x.empty()) continue;
    const HtmlRange own = range_of(chart.series);
    all.min = first ? own.min : std::min(all.min, own.min);
    all.max = first ? own.max : std::max(all.max, own.max);
    first = false;
  }
  all.min = step * std::floor(all.min / step);
  all.max = std::min(std::max(step * (std::floor(all.max / step) + 1), all.min + least), top);
  for (HtmlChart& chart : charts) chart.y_range = all;
}

void put_charts(HtmlPage& page, const std::vector<HtmlChart>& charts) {
  for (const HtmlChart& chart : charts) {
    page.put("<div id='{}'>\n<h3>{}</h3>\n", chart.id, chart.heading);
    page.put_chart(chart);
    page.put("</div>\n");
  }
}

// 5-mers: rows by the first two letters, columns by the last three; darker is more frequent.
void put_kmers(HtmlPage& page, const HtmlReads& reads) {
  const std::uint64_t most = *std::max_element(reads.stats.kmers.begin(), reads.stats.kmers.end());
  page.put(
      "<details id='{}'><summary>5-mers, {}</summary>\n<div class='scroll'><table class='kmers'>\n",
      id_of(reads, "KMER_counting"), name_of(reads));
  for (std::size_t k = 0; k < kKmers; ++k) {
    std::string name;
    for (int shift = 8; shift >= 0; shift -= 2) name += kBases[k >> shift & 3];
    const std::uint64_t n = reads.stats.kmers[k];
    const int light = 97 - static_cast<int>(percent(n, most) * 0.45);
    page.put("{}<td style='background:hsl(200 60% {}%)' title='{}'>{}</td>{}",
             k % 64 == 0 ? "<tr>" : "", light, number_text(n), name, k % 64 == 63 ? "</tr>\n" : "");
  }
  page.put("</table></div></details>\n");
}

void put_overrepresented(HtmlPage& page, const HtmlReads& reads, int sampling) {
  page.put(
      "<details id='{}'><summary>Over-represented sequences, {}</summary>\n"
      "<p class='tip'>Counted in one of {} reads.</p>\n",
      id_of(reads, "overrepresented_sequences"), name_of(reads), sampling);
  bool any = false;
  for (const auto& [sequence, n] : reads.overrepresented) {
    if (!is_overrepresented(sequence, n, sampling)) continue;
    if (!any)
      page.put("<table>\n<tr><th>sequence</th><th>count</th><th>share of bases</th></tr>\n");
    any = true;
    const std::uint64_t bases = n * sequence.size() * static_cast<std::uint64_t>(sampling);
    page.put("<tr><td class='sequence'>{}</td><td>{}</td><td>{}</td></tr>\n",
             report::markup_escaped(sequence), number_text(n),
             report::markup_escaped(percent_text(bases, reads.stats.n_bases)));
  }
  page.put("{}</details>\n", any ? "</table>\n" : "<p>None was found.</p>\n");
}

}  // namespace

void put_read_stats(HtmlPage& page, const std::string& heading, const std::vector<HtmlReads>& sets,
                    const Options& options) {
  std::vector<HtmlChart> quality, contents;
  for (const HtmlReads& reads : sets) {
    quality.push_back(quality_chart(reads));
    contents.push_back(contents_chart(reads));
  }
  share_axis(quality, 1, 4, kHighestQuality);
  share_axis(contents, 10, 10, 100);
  page.put("<h2>{}</h2>\n<div class='grid wide'>\n", heading);
  put_charts(page, quality);
  put_charts(page, contents);
  page.put("</div>\n");
  for (const HtmlReads& reads : sets) put_kmers(page, reads);
  if (options.overrepresentation)
    for (const HtmlReads& reads : sets)
      put_overrepresented(page, reads, options.overrepresentation_sampling);
}

}  // namespace biogpu::qc
