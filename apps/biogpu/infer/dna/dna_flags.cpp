#include "apps/biogpu/infer/dna/dna_flags.hpp"

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/core/error.hpp"
#include "lib/ops/convolution/conv_weights.hpp"
#include "lib/tasks/dna/tile_source.hpp"

namespace biogpu::app {

void add_letter_flags(CLI::App& command, DnaFlags& flags) {
  const OptionGroup options(command);
  options
      .option("--n-value", flags.n_value,
              "set an unknown letter to this value in each of the four inputs, 0 or 0.25 [0]", "X")
      ->transform(one_of({"0", "0.25"}));
  add_model_options(command, models::Reads::dna);
}

void add_dna_flags(CLI::App& command, DnaFlags& flags) {
  add_model_flag(command, flags.infer);
  add_letter_flags(command, flags);
  add_precision_flag(command, flags.infer.precision);
  add_resume_flag(command, flags.infer);
  add_shared_flags(command, flags.infer.shared);
  command.get_option("--batch")->description(
      "compute at most N windows in one pass [chosen for the device]");
}

std::uint8_t unknown_code(const DnaFlags& flags) {
  return flags.n_value == "0.25" ? ops::kLetterQuarters : ops::kLetterZero;
}

void add_region_flags(CLI::App& command, WindowFlags& flags) {
  const OptionGroup options(command);
  options.option(
      "--genome", flags.regions.genome,
      "read --regions and --region from this genome, which is indexed where it has no .fai",
      "FASTA");
  options.option("--regions", flags.regions.bed,
                 "centre windows on these regions, which the fourth column names", "BED");
  add_list(command,
           {"--region",
            "centre windows on this region, as chr7:1001-2000; repeat it for more",
            "REGION",
            {},
            '\0'},
           flags.regions.regions);
  add_skip_bad_flag(command, flags.dna.infer,
                    "records of files with other letters or another length, and intervals of "
                    "--regions that are not in the genome");
  options
      .option("--fit", flags.fit,
              "refuse records of another length (exact), or cut or pad both ends (centre) [exact]",
              "HOW")
      ->transform(one_of({"exact", "centre"}));
}

void add_window_flags(CLI::App& command, WindowFlags& flags) {
  OptionGroup(command).option("FASTA", flags.dna.infer.inputs,
                              "FASTA files of windows, plain or gzip; none or - is standard input",
                              " ");
  add_region_flags(command, flags);
  add_dna_flags(command, flags.dna);
}

WindowFlags checked_flags(WindowFlags flags) {
  InferFlags& infer = flags.dna.infer;
  const bool has_genome = !flags.regions.genome.empty();
  const bool has_regions = !flags.regions.bed.empty() || !flags.regions.regions.empty();
  if (!has_genome && has_regions)
    throw Error(ErrorCode::usage, "--regions and --region need --genome");
  if (has_genome && !has_regions)
    throw Error(ErrorCode::usage, "--genome needs --regions or --region");
  if (has_genome && !infer.inputs.empty())
    throw Error(ErrorCode::usage, "--genome takes the place of files of windows; give one of them");
  if (has_genome && flags.fit != "exact")
    throw Error(ErrorCode::usage, "--fit is for files of windows; regions keep their centre");
  if (!has_genome && infer.inputs.empty()) infer.inputs.emplace_back("-");
  infer.also_read.push_back({"--genome", flags.regions.genome});
  infer.also_read.push_back({"--regions", flags.regions.bed});
  infer.also_read.push_back({"--targets", flags.dna.heads.targets});
  return flags;
}

std::unique_ptr<tasks::WindowSource> open_windows(const WindowFlags& flags,
                                                  const models::DnaModel& model) {
  const InferFlags& infer = flags.dna.infer;
  const std::int64_t length = model.info().window;
  if (flags.tile)
    return tasks::make_tile_source(flags.regions,
                                   tasks::make_tiling(length, model.grids(), flags.overlap),
                                   infer.shard, infer.bad_records());
  if (!flags.regions.genome.empty())
    return tasks::make_genome_source(flags.regions, length, infer.shard, infer.bad_records());
  const genome::Fit fit = flags.fit == "centre" ? genome::Fit::centre : genome::Fit::exact;
  return tasks::make_fasta_source(infer.inputs, length,
                                  {fit, infer.shard, infer.shared.threads, infer.bad_records()});
}

}  // namespace biogpu::app
