#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/biogpu/bwt/queries.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/bio/genome/region.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/commit_guard.hpp"
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
    "A region is NAME, NAME:FIRST-LAST, NAME:FIRST- or NAME:-LAST, 1-based and closed, as samtools "
    "has\n"
    "it; {NAME} where a name holds a colon. Letters other than A, C, G, T come back as N.\n\n"
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

// A piece at a time: a region may be a chromosome, and a hole as long as one.
void write_region(const bwt::FmIndex& index, const genome::Region& region, io::OutputFile& out) {
  constexpr std::uint64_t kPiece = 4096 * kLineLetters;
  for (std::uint64_t begin = region.begin; begin < region.end; begin += kPiece) {
    const std::string letters =
        index.extract(region.contig, begin, std::min(begin + kPiece, region.end));
    std::string lines;
    for (std::size_t i = 0; i < letters.size(); i += kLineLetters)
      lines.append(letters, i, kLineLetters) += '\n';
    out.write(lines);
  }
}

void write_regions(const bwt::FmIndex& index, const std::vector<std::string>& texts, Log& log,
                   io::OutputFile& out) {
  const genome::RegionParser parser(index.contigs());
  std::vector<genome::Region> regions;
  for (const std::string& text : texts) regions.push_back(parser.parse(text));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const genome::Region& region = regions[i];
    if (region.cut)
      log.warn(fmt::format("region {} goes beyond its record of {} letters: {} are written",
                           biogpu::quoted(texts[i]), index.contigs()[region.contig].length,
                           region.end - region.begin));
    out.write(">" + texts[i] + "\n");
    write_region(index, region, out);
  }
}

template <class Write>
Run make_run(const std::shared_ptr<IndexReadFlags>& flags, const char* name, const Write& write) {
  return [flags, name, write](const std::string& command_line) {
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
    write(index, log, out);
    BwtReport report;
    report.device.name = "cpu";
    report.inputs = {{path, index.bytes(), index.contigs().size()}};
    report.outputs = {{flags->out_path, out.bytes()}};
    write_bwt_summary(summary, flags->shared, command_line, log, report);
    const io::CommitGuard guard;
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
  command
      .add_option("-o,--output", flags->out_path,
                  "write the numbers to this file [-, standard output]")
      ->check(text_name())
      ->option_text("FILE");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--batch", "--max-memory", "--max-device-memory"});
  command.footer(std::string(kStatsFooter) + kExitCodes);
  return make_run(flags, "bwt stats", [](const bwt::FmIndex& index, Log&, io::OutputFile& out) {
    out.write(stats_text(index));
  });
}

Run add_bwt_extract(CLI::App& command) {
  const auto flags = std::make_shared<IndexReadFlags>();
  command.add_option("regions", flags->regions, "regions to extract, as NAME or NAME:FIRST-LAST")
      ->required()
      ->option_text("REGION...");
  command
      .add_option("-x,--index", flags->index_path,
                  "read the index of this name, made by 'biogpu bwt index'")
      ->required()
      ->option_text("PREFIX");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the sequences to this file [-, standard output]")
      ->check(text_name({"fasta"}))
      ->option_text("FILE");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--batch", "--max-memory", "--max-device-memory"});
  command.footer(std::string(kExtractFooter) + kExitCodes);
  return make_run(flags, "bwt extract",
                  [flags](const bwt::FmIndex& index, Log& log, io::OutputFile& out) {
                    write_regions(index, flags->regions, log, out);
                  });
}

}  // namespace biogpu::app
