#include "apps/biogpu/infer/dna/interval_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/infer/dna/head_choice.hpp"
#include "apps/biogpu/infer/dna/window_run.hpp"
#include "lib/bio/genome/gene_table.hpp"
#include "lib/bio/genome/genes/gene_annotation.hpp"
#include "lib/bio/genome/tracks/signal_file.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/tasks/dna/scorers/gene_mask.hpp"
#include "lib/tasks/dna/scorers/interval_scorer.hpp"
#include "lib/tasks/dna/scorers/score_lines.hpp"

namespace biogpu::app {
namespace {

using tasks::IntervalScorer;

std::vector<IntervalScorer> parse_scorers(const IntervalFlags& flags) {
  std::vector<IntervalScorer> scorers;
  for (const std::string& text : flags.scorers)
    scorers.push_back(tasks::parse_interval_scorer(text));
  return scorers;
}

void require_table(const WindowFlags& windows, const IntervalFlags& flags) {
  if (windows.regions.genome.empty())
    throw Error(ErrorCode::usage, "--interval-scorers needs --genome with --regions or --region");
  if (genome::is_signal_path(windows.dna.infer.output) ||
      io::array_format(windows.dna.infer.output) != io::ArrayFormat::tsv)
    throw Error(ErrorCode::usage, "--interval-scorers writes a table: .tsv, or standard output");
  if (genome::gene_format(flags.genes) != genome::GeneFormat::gtf)
    throw Error(ErrorCode::usage, flags.genes + ": --interval-scorers takes genes of GTF");
}

// Of all genes of a window and one scorer.
std::vector<tasks::ScoreRow> score_genes(std::size_t index, const IntervalScorer& scorer,
                                         const genome::GeneAnnotation& genes,
                                         const genome::Window& window,
                                         const tasks::TrackRows& rows) {
  std::vector<tasks::ScoreRow> scores;
  for (const tasks::GeneRows& gene :
       tasks::exon_rows(genes, window, scorer.width, window.size() / rows.size()))
    scores.push_back({index, gene.gene, tasks::summarize_gene(scorer.reduction, rows, gene.mask)});
  return scores;
}

}  // namespace

void add_interval_flags(CLI::App& command, IntervalFlags& flags) {
  const OptionGroup options(command);
  CLI::Option* const scorers =
      add_list(command,
               {"--interval-scorers",
                "write a table of AlphaGenome's scores of genes instead: RNA_SEQ (as DeepMind's "
                "client, the mean over exons in 200,001 bases), OUTPUT:WIDTH:MEAN or :SUM",
                "NAME,..."},
               flags.scorers);
  for (const char* other :
       {"--head", "--tracks", "--targets", "--strands", "--fit", "--tile", "--overlap"})
    scorers->excludes(command.get_option(other));
  CLI::Option* const genes = options.option(
      "--genes", flags.genes, "read genes, transcripts and exons from this GTF file", "GTF");
  genes->needs(scorers);
  scorers->needs(genes);
  options
      .flag("--merge-strands", flags.merge_strands,
            "write one line for a track of + and of - in scores of genes")
      ->needs(scorers);
}

void write_interval_scores(WindowFlags windows, const IntervalFlags& flags,
                           const std::string& command_line) {
  const std::vector<IntervalScorer> scorers = parse_scorers(flags);
  require_table(windows, flags);
  for (const IntervalScorer& scorer : scorers) {
    std::vector<std::string>& heads = windows.dna.heads.heads;
    if (std::find(heads.begin(), heads.end(), scorer.head()) == heads.end())
      heads.push_back(scorer.head());
  }
  windows = checked_flags(std::move(windows));
  windows.dna.infer.also_read.push_back({"--genes", flags.genes});
  WindowRun run(windows, "infer tracks", command_line);
  for (const IntervalScorer& scorer : scorers)
    if (scorer.width > run.info().window)
      throw Error(ErrorCode::usage,
                  fmt::format("--interval-scorers {}:{}: the model's windows have {} bases",
                              scorer.output_type, scorer.width, run.info().window));
  const genome::IndexedFasta genome(windows.regions.genome);
  const genome::GeneAnnotation genes(flags.genes, genome);
  const tasks::ScoreLines lines(
      {head_tracks(windows.dna.heads, windows.dna.infer.model, run.model()), &genes,
       flags.merge_strands});
  std::vector<tasks::ScoreLines::Scorer> described;
  for (const IntervalScorer& scorer : scorers)
    described.push_back(lines.scorer(scorer.output_type, scorer.describe(), scorer.head(), true));
  io::OutputFile file(windows.dna.infer.output, windows.dna.infer.shared.threads);
  file.write(lines.header("scored_interval", "interval_scorer"));
  const std::vector<models::HeadChoice>& heads = run.model().heads();
  run.run({}, [&](const pipeline::RecordOutputs& result) {
    for (std::size_t first = 0; first < result.arrays.size(); first += heads.size()) {
      const pipeline::RecordOutputs::Position& at = result.positions.at(first);
      const genome::Window window{"", at.contig, at.begin, at.begin + run.info().window};
      const std::string place = fmt::format(
          "{}:{}-{}:.", io::as_field(genome.contigs()[at.contig].name), window.begin, window.end);
      std::string text;
      for (std::size_t i = 0; i < scorers.size(); ++i) {
        const auto head = std::find_if(heads.begin(), heads.end(), [&](const auto& choice) {
          return choice.name == scorers[i].head();
        });
        const io::NamedArray& array =
            result.arrays[first + static_cast<std::size_t>(head - heads.begin())];
        const tasks::TrackRows rows{{std::as_const(array.values).data(), array.values.size()},
                                    array.shape.back()};
        lines.append(place, described[i], score_genes(i, scorers[i], genes, window, rows), text);
      }
      file.write(text);
    }
  });
  run.finish(file.bytes(), [&] { file.commit(); });
}

}  // namespace biogpu::app
