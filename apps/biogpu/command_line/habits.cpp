#include "apps/biogpu/command_line/habits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace biogpu::app {
namespace {

struct CommandHabit {
  std::initializer_list<std::string_view> words;
  std::string_view command;  // what does it here
};

const CommandHabit kCommandHabits[] = {
    {{"trim", "filter", "fastp", "fastqc", "cutadapt", "preprocess"}, "qc"},
    {{"jellyfish", "kmers", "kmc"}, "kmer"},
    {{"mash"}, "kmer sketch"},
    {{"bwa", "fmindex", "fm-index"}, "bwt"},
    {{"fastmap"}, "bwt smem"},
    {{"search", "find", "grep"}, "bwt locate"},
    {{"faidx"}, "bwt extract"},
    {{"blast", "blastn", "blastp", "needle", "water", "ssw", "sw", "nw"}, "align"},
    {{"parasail", "parasail_aligner"}, "align parasail"},
    {{"esm", "predict", "model", "models"}, "infer"},
    {{"gpu", "gpus"}, "devices"},
};

struct OptionHabit {
  std::initializer_list<std::string_view> options;
  const char* has;  // of the commands that are meant: they have this option
  std::string_view hint;
};

const OptionHabit kOptionHabits[] = {
    {{"-k", "--k", "--kmer", "--kmer-size", "--kmer-length", "--ksize"},
     "--mer-len",
     "k is -m/--mer-len"},
    {{"--gpu", "--gpus", "--cuda", "--use-gpu"}, "--device", "use --device gpu"},
    {{"--cpu", "--no-gpu"}, "--device", "use --device cpu"},
    {{"-a", "-f", "-M", "-X"}, "--gap-model", "Parasail's options: 'biogpu align parasail'"},
    {{"-A"}, "--gap-model", "the score of a match is --match"},
    {{"-B"}, "--gap-model", "the score of a mismatch is --mismatch"},
    {{"-O"}, "--gap-model", "the cost of a gap is --gap-open"},
    {{"-E"}, "--gap-model", "the cost of a longer gap is --gap-extend"},
    {{"-@", "-p", "-j", "--num-threads", "--nthreads", "--cores", "--cpus"},
     "--threads",
     "threads are -t/--threads"},
    {{"-@", "-j", "--num-threads", "--nthreads", "--cores", "--cpus"},
     "--thread",
     "threads are -w/--thread"},
    {{"--outfile", "--out-file"}, "--output", "the output is -o/--output"},
};

bool contains(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string hint_for_command(std::string_view word) {
  for (const CommandHabit& habit : kCommandHabits)
    if (contains(habit.words, word)) return fmt::format("; see 'biogpu {} --help'", habit.command);
  return {};
}

std::string hint_for_option(const CLI::App& command, std::string_view option) {
  if (option.size() < 2) return {};
  std::string name(option);
  std::replace(name.begin() + 2, name.end(), '_', '-');
  // The value of a short option may be glued to it.
  if (!name.starts_with("--")) name.resize(2);
  for (const OptionHabit& habit : kOptionHabits)
    if (contains(habit.options, name) && command.get_option_no_throw(habit.has) != nullptr)
      return fmt::format("; {}", habit.hint);
  return {};
}

std::string hint_for_argument(const CLI::App& command) {
  return command.get_option_no_throw("--in1") != nullptr ? "; the reads are named by -i and -I"
                                                         : "";
}

}  // namespace biogpu::app
