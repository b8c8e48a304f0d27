// The options of parasail_aligner: one table for the parser, the help, the manual and completions.
#include "apps/biogpu/parasail/options.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/help_format.hpp"

namespace biogpu::app {
namespace {

struct ParasailOption {
  char letter;
  const char* value;  // null: a flag
  const char* group;
  const char* text;
};

constexpr const char* kFiles = "Input and output";
constexpr const char* kScores = "Alignment";
constexpr const char* kChoice = "Selection";
constexpr const char* kRun = "Run";

constexpr ParasailOption kOptions[] = {
    {'f', "FILE", kFiles,
     "read the database from this FASTA or FASTQ file; without -q align every two of its "
     "sequences"},
    {'q', "FILE", kFiles, "align each sequence of this file with the whole database"},
    {'g', "FILE", kFiles,
     "write the output to this file [parasail.csv; standard output for functions with _trace]"},
    {'O', "FORM", kFiles, "write paths as EMBOSS, SAM, SAMH or SSW, with a function with _trace"},
    {'p', nullptr, kFiles, "write the indices of the pairs alone, and align none"},
    {'a', "NAME", kScores,
     "compute this function: nw, sg, sg_* or sw, then _stats, _trace, _table or _rowcol and "
     "Parasail's further words, or nw_banded; _table also writes all cells of a pair to "
     "parasail_<i>_<j>.txt [sw_stats_striped_16]"},
    {'o', "N", kScores, "set the cost of the first residue of a gap [10]"},
    {'e', "N", kScores, "set the cost of each further residue of a gap [1]"},
    {'m', "NAME", kScores, "score by this matrix of Parasail or this file [blosum62]"},
    {'d', nullptr, kScores, "score letters of DNA by -M and -X"},
    {'M', "N", kScores, "set the score of equal letters of DNA [1]"},
    {'X', "N", kScores, "set the cost of different letters of DNA [0]"},
    {'C', nullptr, kScores, "treat letters of different case as different"},
    {'A', "PAIRS", kScores, "count these letters as equal in paths, as TU for T and U"},
    {'k', "N", kScores, "set the half width of the band of nw_banded [3]"},
    {'x', nullptr, kChoice, "align all pairs, not only those that share an exact match"},
    {'c', "N", kChoice, "set the number of residues of this exact match [7]"},
    {'E', nullptr, kChoice, "write the pairs that -l, -s and -i leave, as edges of a graph"},
    {'G', nullptr, kChoice, "write the same pairs as a METIS graph, without -q"},
    {'l', "%", kChoice,
     "keep edges whose alignment has this percentage of the longer sequence's length [80]"},
    {'s', "%", kChoice, "keep edges with this percentage of equal residues [40]"},
    {'i', "%", kChoice,
     "keep edges whose score is this percentage of the longer sequence's with itself [30]"},
    {'t', "N", kRun, "use N CPU threads for the alignments [BIOGPU_THREADS, else all]"},
    {'b', "N", kRun, "align N pairs at a time [chosen for the machine]"},
    {'r', "SIZE", kRun, "ignore this bound of memory, which is bounded anyway"},
    {'v', nullptr, kRun, "log the time of each stage"},
    {'V', nullptr, kRun, "log the time of each stage, as -v"},
};

constexpr const char* kDescription =
    "take the options of parasail_aligner 2.6 and write what it writes";

std::string footer() {
  return std::string(
             "Standard input is -f - or -f stdin. Words that belong to no option are ignored.\n\n"
             "Examples:\n"
             "  biogpu align parasail -f proteome.fa -q queries.fa -x -a sw_striped_16 -g out.csv\n"
             "  biogpu align parasail -f t.fa -q q.fa -a sw_trace_striped_16 -O SAMH -d -M 2 -X "
             "3\n\n") +
         kExitCodes;
}

// A command that is described, not parsed: its values go nowhere.
struct DescribedCommand {
  CLI::App app{kDescription, "parasail"};
  std::array<std::string, std::size(kOptions)> values;
  std::array<bool, std::size(kOptions)> flags{};

  DescribedCommand() {
    app.formatter(std::make_shared<HelpFormatter>());
    app.set_help_flag("-h,--help", "print this help and end");
    app.footer(footer());
    for (std::size_t i = 0; i < std::size(kOptions); ++i) {
      const ParasailOption& option = kOptions[i];
      const std::string name{'-', option.letter};
      CLI::Option* const added = option.value != nullptr
                                     ? app.add_option(name, values[i], option.text)
                                     : app.add_flag(name, flags[i], option.text);
      added->option_text(option.value != nullptr ? option.value : " ")->group(option.group);
      if (option.letter == 'f') added->required();
    }
  }
};

}  // namespace

std::string parasail_getopt_text() {
  std::string text = ":h";
  for (const ParasailOption& option : kOptions) {
    text += option.letter;
    if (option.value != nullptr) text += ':';
  }
  return text;
}

std::string parasail_help() {
  const DescribedCommand command;
  return help_text(command.app, "biogpu align parasail");
}

void add_parasail_entry(CommandEntry& root) {
  DescribedCommand command;
  CommandEntry entry = describe(command.app);
  entry.path = "align parasail";
  const auto align = std::find_if(root.commands.begin(), root.commands.end(),
                                  [](const CommandEntry& below) { return below.name == "align"; });
  if (align != root.commands.end()) align->modes.push_back(std::move(entry));
}

}  // namespace biogpu::app
