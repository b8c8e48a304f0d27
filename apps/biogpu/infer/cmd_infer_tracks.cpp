// `biogpu infer tracks`: predictions of models of DNA.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/dna/interval_run.hpp"
#include "apps/biogpu/infer/dna/signal_output.hpp"
#include "apps/biogpu/infer/dna/window_run.hpp"
#include "lib/bio/genome/tracks/signal.hpp"
#include "lib/bio/genome/tracks/signal_file.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/tasks/dna/compare.hpp"
#include "lib/tasks/dna/junction_table.hpp"

namespace biogpu::app {
namespace {

struct TrackFlags {
  WindowFlags windows;
  std::string strands = "forward";
  IntervalFlags intervals;
};

tasks::TrackOptions options_of(const TrackFlags& flags) {
  tasks::TrackOptions options;
  options.both_strands = flags.strands == "both";
  return options;
}

void write_arrays(WindowRun& run, const TrackFlags& flags) {
  const std::string& output = flags.windows.dna.infer.output;
  const auto writer = io::make_array_writer(output, io::array_format(output));
  run.run(options_of(flags), [&](const pipeline::RecordOutputs& result) {
    for (const io::NamedArray& array : result.arrays) writer->add(array);
  });
  run.finish(writer->bytes(), [&] { writer->commit(); });
}

// Whether the one head is that of splice junctions.
bool has_junctions_alone(const models::DnaModel& model) {
  return model.heads().size() == 1 && model.head(model.heads().front()).is_ragged;
}

// Splice junctions with their places.
void write_junctions(WindowRun& run, const TrackFlags& flags) {
  const std::string& output = flags.windows.dna.infer.output;
  const models::HeadChoice& choice = run.model().heads().front();
  const tasks::JunctionTable table(
      run.model(), choice,
      track_names(flags.windows.dna.heads, flags.windows.dna.infer.model, run.model()));
  io::OutputFile file(output);
  file.write(table.header());
  const auto contigs = run.input().contigs();
  run.run(options_of(flags), [&](const pipeline::RecordOutputs& result) {
    for (std::size_t i = 0; i + 1 < result.arrays.size(); i += 2) {
      const io::NamedArray &tracks = result.arrays[i], &positions = result.arrays[i + 1];
      if (contigs.empty()) {
        const std::string name = tracks.key.substr(0, tracks.key.size() - tracks.kind_bytes);
        file.write(table.lines(io::as_field(name), 0, tracks, positions));
        continue;
      }
      const pipeline::RecordOutputs::Position& at = result.positions.at(i);
      file.write(table.lines(io::as_field(contigs[at.contig].name), at.begin, tracks, positions));
    }
  });
  run.finish(file.bytes(), [&] { file.commit(); });
}

// Tracks along the genome, a file each.
void write_signals(WindowRun& run, const TrackFlags& flags) {
  InferFlags infer = flags.windows.dna.infer;
  const models::DnaModel& model = run.model();
  const auto grids = model.grids();  // throws where rows are no bins
  const auto paths =
      SignalOutput::paths(infer.output, track_names(flags.windows.dna.heads, infer.model, model));
  for (const std::string& path : paths)
    if (path != infer.output) infer.also_written.push_back({"--output", path});
  require_own_outputs(infer, infer.inputs);
  const auto contigs = run.input().contigs();
  SignalOutput output(paths, contigs);
  genome::SignalPlaces places(contigs);
  run.input().on_window([&](const tasks::InputWindow& window) {
    std::int64_t begin = window.wanted_begin, end = window.wanted_end;
    if (!flags.windows.tile) {
      begin = window.begin + grids.front().first_base;
      end = begin + grids.front().n_bases();
    }
    places.take(window.contig, begin, end, window.place);
  });
  std::size_t head = 0, first_track = 0;  // of the next array
  run.run(options_of(flags), [&](const pipeline::RecordOutputs& result) {
    for (std::size_t i = 0; i < result.arrays.size(); ++i) {
      const io::NamedArray& array = result.arrays[i];
      const pipeline::RecordOutputs::Position& at = result.positions.at(i);
      const auto n_tracks = static_cast<std::size_t>(array.shape.back());
      const std::int64_t bin = model.head(model.heads()[head]).bins.bin_size;
      for (std::size_t track = 0; track < n_tracks; ++track) {
        std::vector<float> values(array.values.size() / n_tracks);
        for (std::size_t row = 0; row < values.size(); ++row)
          values[row] = array.values[row * n_tracks + track];
        output.add(first_track + track, {at.contig, at.begin, bin, std::move(values), array.key});
      }
      head = (head + 1) % model.heads().size();
      first_track = head == 0 ? 0 : first_track + n_tracks;
    }
  });
  const std::uint64_t n_bytes = output.write();
  run.finish(n_bytes, [&] { output.commit(); });
}

void run_tracks(TrackFlags flags, const std::string& command_line) {
  if (!flags.intervals.scorers.empty())
    return write_interval_scores(flags.windows, flags.intervals, command_line);
  InferFlags& infer = flags.windows.dna.infer;
  flags.windows.dna.heads.both_strands = flags.strands == "both";
  const bool is_signal = genome::is_signal_path(infer.output);
  if (is_signal && flags.windows.regions.genome.empty())
    throw Error(ErrorCode::usage, ".bw and .bedgraph need --genome with --regions or --region");
  if (!is_signal && infer.output.find(kTrackPlace) != std::string::npos)
    throw Error(ErrorCode::usage, fmt::format("{}: {} is for files of signals: expected .bw or "
                                              ".bedgraph",
                                              infer.output, kTrackPlace));
  if (flags.windows.tile && !is_signal)
    throw Error(ErrorCode::usage, "--tile writes signals: expected -o FILE.bw or .bedgraph");
  if (flags.windows.overlap && !flags.windows.tile)
    throw Error(ErrorCode::usage, "--overlap is of the windows of --tile, which is not given");
  if (!is_signal && io::array_format(infer.output) == io::ArrayFormat::npy)
    infer.also_written.push_back({"the index", io::npy_index(infer.output)});
  WindowRun run(checked_flags(flags.windows), "infer tracks", command_line);
  if (is_signal)
    write_signals(run, flags);
  else if (has_junctions_alone(run.model()) &&
           io::array_format(infer.output) == io::ArrayFormat::tsv)
    write_junctions(run, flags);
  else
    write_arrays(run, flags);
}

}  // namespace

Run add_infer_tracks(CLI::App& command) {
  const auto flags = std::make_shared<TrackFlags>();
  const OptionGroup options(command);
  options
      .option("-o,--output", flags->windows.dna.infer.output,
              "write the results to this file, whose suffix gives the format [-, TSV on standard "
              "output]",
              "FILE")
      ->check(array_name({"bw", "bedgraph"}));
  add_head_flags(command, flags->windows.dna.heads);
  options
      .option("--strands", flags->strands,
              "predict windows as they are (forward), or average with the reverse complement "
              "(both) [forward]",
              "WHICH")
      ->transform(one_of({"forward", "both"}));
  add_window_flags(command, flags->windows);
  options.flag("--tile", flags->windows.tile,
               "cover regions of any length, such as whole chromosomes, by windows");
  options
      .option("--overlap", flags->windows.overlap,
              "let neighbouring windows of --tile share this number of predicted bases, and take "
              "the first half of them from the left window, the other from the right [half of a "
              "window; Enformer, Borzoi: 0]",
              "BASES")
      ->transform(in_range<std::int64_t>(0, INT64_MAX));
  add_interval_flags(command, flags->intervals);
  add_infer_shard_flag(
      command, flags->windows.dna.infer,
      "predict part I of N of the windows; 'biogpu gather' joins .npy, 'cat' .tsv");
  command.footer(
      std::string(
          "An array [bins, tracks] of each window and head. Output by suffix: .npz, .h5,\n"
          ".safetensors, .tsv, or .npy (rows one after the other, OUTPUT.index.tsv tells whose).\n"
          "Keys are the names of records or regions; with several heads NAME/HEAD.\n"
          "Splice junctions alone as .tsv are lines of chrom, start, end, strand and tissues.\n"
          ".bw, .bigwig and .bedgraph hold one track of regions that do not overlap; {track} in\n"
          "the name stands for that of the track, and each has a file. With --tile regions have\n"
          "any length: windows cover them, and predict their bins once.\n\n"
          "Examples:\n"
          "  biogpu infer tracks --model enformer --head human loci.fa -o tracks.h5\n"
          "  biogpu infer tracks --model enformer --genome genome.fa --regions peaks.bed \\\n"
          "      --head human --tracks DNASE -o tracks.npz\n"
          "  biogpu infer tracks --model enformer --genome genome.fa --region chr1:5001-5400 \\\n"
          "      --head human --tracks TRACK2 -o dnase.bedgraph\n"
          "  biogpu infer tracks --model enformer --genome genome.fa --tile --region chrM \\\n"
          "      --head human --tracks CAGE --resume -o 'chrM.{track}.bw'\n"
          "  biogpu infer tracks --model alphagenome --genome genome.fa --region chr1:801-1400 \\\n"
          "      --interval-scorers RNA_SEQ:all:MEAN --genes genes.gtf -o genes.tsv\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_tracks(*flags, command_line); };
}

}  // namespace biogpu::app
