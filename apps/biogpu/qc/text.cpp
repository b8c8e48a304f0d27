#include "apps/biogpu/qc/text.hpp"

#include <fmt/format.h>

#include <numeric>

#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

using qc::Verdict;

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0";  // of no bases: fastp prints -nan
  return fmt::format("{:g}", static_cast<double>(part) * 100.0 / static_cast<double>(whole));
}

std::string stats_text(const char* title, const qc::ReadStats& stats, const qc::Options& options) {
  std::string text = fmt::format(
      "{}:\ntotal reads: {}\ntotal bases: {}\nQ20 bases: {}({}%)\nQ30 bases: {}({}%)\n", title,
      stats.n_reads, stats.n_bases, stats.q20_bases, percent(stats.q20_bases, stats.n_bases),
      stats.q30_bases, percent(stats.q30_bases, stats.n_bases));
  if (options.follows_fastp_1())
    text += fmt::format("Q40 bases: {}({}%)\n", stats.q40_bases,
                        percent(stats.q40_bases, stats.n_bases));
  return text;
}

std::uint64_t sum(const std::array<std::uint64_t, 4>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::string filtering_text(const qc::FilterCounts& counts, const qc::Options& options) {
  std::string text = "Filtering result:\n";
  const auto line = [&](const char* what, std::uint64_t n) {
    text += fmt::format("{}: {}\n", what, n);
  };
  line("reads passed filter", counts.n_with(Verdict::passed));
  line("reads failed due to low quality", counts.n_with(Verdict::low_quality));
  line("reads failed due to too many N", counts.n_with(Verdict::too_many_n));
  if (options.length_filter) {
    line("reads failed due to too short", counts.n_with(Verdict::too_short));
    if (options.length_limit > 0)
      line("reads failed due to too long", counts.n_with(Verdict::too_long));
  }
  if (options.complexity_filter)
    line("reads failed due to low complexity", counts.n_with(Verdict::low_complexity));
  if (options.follows_fastp_1() && options.adapter_trimming)
    line("reads failed due to adapter dimer", counts.n_with(Verdict::adapter_dimer));
  if (options.adapter_trimming) {
    line("reads with adapter trimmed", counts.adapter_reads);
    line("bases trimmed due to adapters", counts.adapter_bases);
  }
  if (options.trim_poly_x) {
    line("reads with polyX in 3' end", sum(counts.poly_x_reads));
    line("bases trimmed in polyX tail", sum(counts.poly_x_bases));
  }
  if (options.correction) {
    line("reads corrected by overlap analysis", counts.corrected_reads);
    line("bases corrected by overlap analysis", counts.corrected_bases);
  }
  return text;
}

std::string merge_text(const qc::Summary& summary) {
  const std::uint64_t merged = summary.counts.merged_pairs;
  std::string text = fmt::format("\nRead pairs merged: {}\n", merged);
  if (summary.after[0].n_reads > 0)
    text += fmt::format("% of original read pairs: {}%\n% in reads after filtering: {}%\n",
                        percent(merged, summary.before[0].n_reads),
                        percent(merged, summary.after[0].n_reads));
  return text + "\n";
}

}  // namespace

std::string qc_text(const qc::Summary& summary, const qc::Options& options) {
  std::string text = stats_text("Read1 before filtering", summary.before[0], options) + "\n";
  if (options.paired())
    text += stats_text("Read2 before filtering", summary.before[1], options) + "\n";
  if (options.merge) {
    text += stats_text("Merged and filtered", summary.after[0], options);
  } else {
    text += stats_text("Read1 after filtering", summary.after[0], options);
    if (options.paired()) {
      text += '\n';
      text += stats_text("Read2 after filtering", summary.after[1], options);
    }
  }
  text += '\n';
  text += filtering_text(summary.counts, options);
  if (options.duplicates)
    text += fmt::format("\nDuplication rate{}: {:g}%\n",
                        options.paired() ? "" : " (may be overestimated since this is SE data)",
                        summary.duplication_rate() * 100.0);
  if (options.paired())
    text += fmt::format("\nInsert size peak (evaluated by paired-end reads): {}\n",
                        summary.insert_size_peak());
  if (options.merge) text += merge_text(summary);
  return text;
}

std::vector<std::string> flow_text(const qc::RunResult& result) {
  using qc::Fate;
  const qc::Flow& flow = result.summary.flow;
  std::string bytes = fmt::format("{}", result.bytes_read);
  if (result.file_bytes > 0) bytes += fmt::format(" of {}", result.file_bytes);
  std::string removed = fmt::format("removed: {} by filters",
                                    report::counted(flow.reads_of(Fate::filtered), "reads"));
  if (flow.reads_of(Fate::duplicate) > 0)
    removed += fmt::format(", {} as duplicates", flow.reads_of(Fate::duplicate));
  if (flow.reads_of(Fate::index_listed) > 0)
    removed += fmt::format(", {} by their index", flow.reads_of(Fate::index_listed));
  return {fmt::format("in: {}, {}; {} bytes", report::counted(flow.reads_in(), "reads"),
                      report::counted(flow.bases_in(), "bases"), bytes),
          fmt::format("out: {}, {}; {}", report::counted(flow.reads_out(), "reads"),
                      report::counted(flow.bases_out, "bases"),
                      report::counted(result.bytes_written, "bytes")),
          fmt::format("{}, {}; {} trimmed off the reads that are written", removed,
                      report::counted(flow.bases_removed(), "bases"),
                      report::counted(flow.bases_trimmed(), "bases"))};
}

}  // namespace biogpu::app
