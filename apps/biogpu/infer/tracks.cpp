// `biogpu infer tracks`: predictions of models of DNA.
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/dna_run.hpp"
#include "apps/biogpu/infer/head_choice.hpp"
#include "apps/biogpu/option_group.hpp"
#include "apps/biogpu/value_checks.hpp"
#include "lib/io/arrays/array_writer.hpp"

namespace biogpu::app {
namespace {

struct TrackFlags {
  DnaFlags dna;
  HeadFlags heads;
  std::string strands = "forward";
};

void run_tracks(TrackFlags flags, const std::string& command_line) {
  const std::string output = flags.dna.infer.output;
  const io::ArrayFormat format = io::array_format(output);
  if (format == io::ArrayFormat::npy)
    flags.dna.infer.also_written.push_back({"the index", io::npy_index(output)});
  flags.dna.infer.also_read.push_back({"--targets", flags.heads.targets});
  const std::string folder = flags.dna.infer.model;
  DnaRun run(flags.dna, "infer tracks", command_line,
             [&](const std::vector<models::TrackHead>& heads) {
               return choose_heads(flags.heads, folder, heads);
             });
  tasks::TrackOptions options;
  options.both_strands = flags.strands == "both";
  const auto writer = io::make_array_writer(output, format);
  run.run(options, [&](const pipeline::BatchResult& result) {
    for (const io::NamedArray& array : result.arrays) writer->add(array);
  });
  run.finish(writer->bytes(), [&] { writer->commit(); });
}

}  // namespace

Run add_infer_tracks(CLI::App& command) {
  const auto flags = std::make_shared<TrackFlags>();
  const OptionGroup options(command);
  options.option("-o,--output", flags->dna.infer.output, "[-, TSV on stdout]", "FILE");
  add_head_flags(command, flags->heads);
  options
      .option("--strands", flags->strands,
              "forward, or both (the mean of a window and its reverse complement) [forward]",
              "WHICH")
      ->transform(one_of({"forward", "both"}));
  add_dna_flags(command, flags->dna);
  command.footer(
      std::string(
          "An array [bins, tracks] of each window and head. Output by suffix: .npz, .h5,\n"
          ".safetensors, .tsv, or .npy (rows one after the other, OUTPUT.index.tsv tells whose).\n"
          "Keys are the names of records or regions; with several heads NAME/HEAD.\n\n"
          "Examples:\n"
          "  biogpu infer tracks --model enformer --head human loci.fa -o tracks.h5\n"
          "  biogpu infer tracks --model enformer --genome genome.fa --regions peaks.bed \\\n"
          "      --head human --tracks DNASE -o tracks.npz\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_tracks(*flags, command_line); };
}

}  // namespace biogpu::app
