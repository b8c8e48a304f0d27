#include "apps/biogpu/infer/dna/compare_flags.hpp"

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"

namespace biogpu::app {

void add_compare_flags(CLI::App& command, CompareFlags& flags) {
  const OptionGroup options(command);
  options
      .option("--reduce", flags.reduction,
              "combine several bins into one number by mean or sum [mean]", "HOW")
      ->transform(one_of({"mean", "sum"}));
  options
      .option("--strands", flags.strands,
              "predict windows as they are (forward), or average with the reverse complement "
              "(both) [forward]",
              "WHICH")
      ->transform(one_of({"forward", "both"}));
  add_list(
      command,
      {"--shifts", "average over windows that are moved by these numbers of bases, as -1,0,1 [0]",
       "N,...", in_range(-1000, 1000)},
      flags.shifts);
  options.flag("--no-reuse", flags.no_reuse,
               "compute all of every window, for comparisons: the same numbers, slower");
  options
      .option("--kept-memory", flags.kept_memory,
              "keep intermediate results of references in at most this memory of each device; none "
              "are kept where not even one fits [2G, or a quarter of what is free]",
              "SIZE")
      ->transform(size_suffix(1024));
}

tasks::CompareOptions compare_options(const CompareFlags& flags, std::uint8_t unknown) {
  tasks::CompareOptions options;
  options.reduction = flags.reduction == "sum" ? tasks::Reduction::sum : tasks::Reduction::mean;
  options.both_strands = flags.strands == "both";
  if (!flags.shifts.empty()) options.shifts = flags.shifts;
  options.unknown = unknown;
  options.reuse = !flags.no_reuse;
  options.max_kept_bytes = flags.kept_memory;
  return options;
}

}  // namespace biogpu::app
