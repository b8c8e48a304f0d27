#include "lib/qc/report/html_stats.hpp"

#include <algorithm>
#include <string_view>

namespace biogpu::qc {
namespace {

constexpr std::string_view kBases = "ATCG";
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
std::string id_of(std::string stage, const std::string& read, const char* what) {
  std::replace(stage.begin(), stage.end(), ' ', '_');
  return stage + "__" + read + "__" + what;
}

void put_quality(HtmlPage& page, const std::string& id, const std::string& heading,
                 const ReadStats& stats) {
  const std::vector<int> x = chart_cycles(stats);
  std::vector<HtmlSeries> series;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::string name(1, kBases[k]);
    series.push_back({name, name, curve(stats, x, [k](const CycleSums& cycle) {
                        return cycle.bases[k] == 0 ? mean_quality(cycle)
                                                   : static_cast<double>(cycle.quality[k]) /
                                                         static_cast<double>(cycle.bases[k]);
                      })});
  }
  series.push_back({"mean", "mean", curve(stats, x, mean_quality)});
  page.put("<div id='{}'>\n<h3>{}</h3>\n", id, heading);
  page.put_chart(id, "line", x, series, "position", "quality");
  page.put("</div>\n");
}

void put_contents(HtmlPage& page, const std::string& id, const std::string& heading,
                  const ReadStats& stats) {
  constexpr const char* kNames[] = {"A", "T", "C", "G", "N", "GC"};
  const std::vector<int> x = chart_cycles(stats);
  std::vector<HtmlSeries> series;
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
  page.put("<div id='{}'>\n<h3>{}</h3>\n", id, heading);
  page.put_chart(id, "line", x, series, "position", "base content ratios");
  page.put("</div>\n");
}

// 5-mers: rows by the first two letters, columns by the last three; darker is more frequent.
void put_kmers(HtmlPage& page, const std::string& id, const std::string& heading,
               const ReadStats& stats) {
  const std::uint64_t most = *std::max_element(stats.kmers.begin(), stats.kmers.end());
  page.put("<details id='{}'><summary>{}</summary>\n<div class='scroll'><table class='kmers'>\n",
           id, heading);
  for (std::size_t k = 0; k < kKmers; ++k) {
    std::string name;
    for (int shift = 8; shift >= 0; shift -= 2) name += kBases[k >> shift & 3];
    const int light = 97 - static_cast<int>(percent(stats.kmers[k], most) * 0.45);
    page.put("{}<td style='background:hsl(200 60% {}%)' title='{}'>{}</td>{}",
             k % 64 == 0 ? "<tr>" : "", light, stats.kmers[k], name, k % 64 == 63 ? "</tr>\n" : "");
  }
  page.put("</table></div></details>\n");
}

void put_overrepresented(HtmlPage& page, const std::string& id, const std::string& heading,
                         const ReadStats& stats, const SequenceCounts& sequences, int sampling) {
  page.put(
      "<div id='{}'>\n<h3>{}</h3>\n<p class='tip'>Sampling rate: 1 / {}</p>\n"
      "<table class='summary_table'>\n<tr><th>overrepresented sequence</th><th>count (% of "
      "bases)</th></tr>\n",
      id, heading, sampling);
  bool any = false;
  for (const auto& [sequence, n] : sequences) {
    if (!is_overrepresented(sequence, n, sampling)) continue;
    const std::uint64_t bases = n * sequence.size() * static_cast<std::uint64_t>(sampling);
    page.put("<tr><td class='sequence'>{}</td><td>{} ({:f}%)</td></tr>\n", html_escaped(sequence),
             n, percent(bases, stats.n_bases));
    any = true;
  }
  page.put("</table>\n{}</div>\n", any ? "" : "<p>not found</p>\n");
}

}  // namespace

void put_read_stats(HtmlPage& page, const std::string& stage, const std::string& read,
                    const ReadStats& stats, const SequenceCounts& overrepresented,
                    const Options& options) {
  page.put("<div class='grid wide'>\n");
  put_quality(page, id_of(stage, read, "quality"), fmt::format("{}: {}: quality", stage, read),
              stats);
  put_contents(page, id_of(stage, read, "base_contents"),
               fmt::format("{}: {}: base contents", stage, read), stats);
  page.put("</div>\n");
  put_kmers(page, id_of(stage, read, "KMER_counting"),
            fmt::format("{}: {}: KMER counting", stage, read), stats);
  if (options.overrepresentation)
    put_overrepresented(page, id_of(stage, read, "overrepresented_sequences"),
                        fmt::format("{}: {}: overrepresented sequences", stage, read), stats,
                        overrepresented, options.overrepresentation_sampling);
}

}  // namespace biogpu::qc
