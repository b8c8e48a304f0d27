#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "apps/biogpu/bwt/queries.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

struct IndexReadFlags {
  SharedFlags shared;
  std::string index_path;
  std::string out_path = "-";
  std::vector<std::string> regions;
};

constexpr std::size_t kLineLetters = 60;

constexpr char kStatsFooter[] =
    "Examples:\n"
    "  biogpu bwt stats genome.fa\n\n";
constexpr char kExtractFooter[] =
    "A region is NAME or NAME:FIRST-LAST, 1-based and closed, as samtools has it. Letters other "
    "than\n"
    "A, C, G, T come back as N.\n\n"
    "Examples:\n"
    "  biogpu bwt extract -x genome.fa chr1:1001-1060 chrM\n\n";

std::string stats_text(const bwt::FmIndex& index) {
  const bwt::FmHeader& header = index.header();
  const std::uint64_t n_letters = header.n_rows - header.n_segments;
  const std::uint64_t n_runs = index.count_runs();
  std::string text = fmt::format("records\t{}\nbases\t{}\nindexed\t{}\nsegments\t{}\n",
                                 header.n_contigs, header.n_bases, n_letters, header.n_segments);
  for (std::size_t c = 0; c < 4; ++c)
    text += fmt::format("{}\t{}\n", "ACGT"[c], header.first_row[c + 1] - header.first_row[c]);
  text += fmt::format(
      "runs\t{}\nletters_per_run\t{:.3f}\n", n_runs,
      n_runs == 0 ? 0.0 : static_cast<double>(header.n_rows) / static_cast<double>(n_runs));
  text += fmt::format("sample_rate\t{}\ntable_k\t{}\nrow_bytes\t{}\nbytes\t{}\n",
                      header.sample_rate, header.table_k, header.row_bytes, header.file_bytes);
  return text;
}

struct Region {
  std::uint64_t contig = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// With commas anywhere, as samtools takes them.
bool parse_number(std::string_view given, std::uint64_t& value) {
  std::string text(given);
  std::erase(text, ',');
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// A whole record's name wins over a name with a range.
Region parse_region(const bwt::FmIndex& index, const std::string& text) {
  const auto find = [&](std::string_view name) {
    return std::find_if(index.contigs().begin(), index.contigs().end(),
                        [&](const bwt::FmContig& contig) { return contig.name == name; });
  };
  auto contig = find(text);
  Region region;
  if (contig != index.contigs().end()) {
    region.end = contig->length;
  } else {
    const std::string_view all(text);
    const std::size_t colon = all.rfind(':');
    const std::size_t dash = all.rfind('-');
    std::uint64_t first = 0;
    const bool sound = colon != all.npos && dash != all.npos && dash > colon &&
                       parse_number(all.substr(colon + 1, dash - colon - 1), first) &&
                       parse_number(all.substr(dash + 1), region.end) && first > 0 &&
                       first <= region.end;
    if (colon != all.npos) contig = find(all.substr(0, colon));
    if (contig == index.contigs().end())
      throw Error(ErrorCode::usage,
                  fmt::format("no record for region '{}'; expected NAME or NAME:FIRST-LAST", text));
    if (!sound)
      throw Error(ErrorCode::usage,
                  fmt::format("region '{}': expected FIRST-LAST behind the name, counted from 1, "
                              "FIRST not above LAST",
                              text));
    if (region.end > contig->length)
      throw Error(ErrorCode::usage, fmt::format("region '{}' ends behind its record of {} letters",
                                                text, contig->length));
    region.begin = first - 1;
  }
  region.contig = static_cast<std::uint64_t>(contig - index.contigs().begin());
  return region;
}

std::string extract_text(const bwt::FmIndex& index, const std::vector<std::string>& regions) {
  std::string text;
  for (const std::string& name : regions) {
    const Region region = parse_region(index, name);
    const std::string letters = index.extract(region.contig, region.begin, region.end);
    text += ">" + name + "\n";
    for (std::size_t i = 0; i < letters.size(); i += kLineLetters)
      text += letters.substr(i, kLineLetters) + "\n";
  }
  return text;
}

template <class MakeText>
Run make_run(const std::shared_ptr<IndexReadFlags>& flags, const char* name,
             const MakeText& make_text) {
  return [flags, name, make_text](const std::string& command_line) {
    const std::string path = index_file(flags->index_path);
    flags->shared.require_own_outputs({{"the index", path}}, {{"--output", flags->out_path}});
    flags->shared.resolve();
    Log log(name, flags->shared.quiet, flags->shared.verbose);
    Progress progress(name, flags->shared.progress, flags->shared.quiet);
    progress.stage("reading the index");
    SummaryFile summary(flags->shared);
    const bwt::FmIndex index = bwt::FmIndex::open(path, flags->shared.threads);
    io::OutputFile out(flags->out_path);
    progress.clear();
    out.write(make_text(index));
    BwtReport report;
    report.device.name = "cpu";
    report.inputs = {{path, index.bytes(), index.contigs().size()}};
    report.outputs = {{flags->out_path, out.bytes()}};
    write_bwt_summary(summary, flags->shared, command_line, log, report);
    out.commit();
    summary.commit();
  };
}

}  // namespace

Run add_bwt_stats(CLI::App& command) {
  const auto flags = std::make_shared<IndexReadFlags>();
  command.add_option("index", flags->index_path, "index made by 'biogpu bwt index'")
      ->required()
      ->option_text("PREFIX");
  command.add_option("-o,--output", flags->out_path, "where the numbers go [-]")
      ->option_text("FILE");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--batch", "--max-memory", "--max-device-memory"});
  command.footer(std::string(kStatsFooter) + kExitCodes);
  return make_run(flags, "bwt stats", stats_text);
}

Run add_bwt_extract(CLI::App& command) {
  const auto flags = std::make_shared<IndexReadFlags>();
  command.add_option("regions", flags->regions, "NAME or NAME:FIRST-LAST")
      ->required()
      ->option_text("REGION...");
  command.add_option("-x,--index", flags->index_path, "index made by 'biogpu bwt index'")
      ->required()
      ->option_text("PREFIX");
  command.add_option("-o,--output", flags->out_path, "where the sequences go [-]")
      ->option_text("FILE");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--batch", "--max-memory", "--max-device-memory"});
  command.footer(std::string(kExtractFooter) + kExitCodes);
  return make_run(flags, "bwt extract", [flags](const bwt::FmIndex& index) {
    return extract_text(index, flags->regions);
  });
}

}  // namespace biogpu::app
