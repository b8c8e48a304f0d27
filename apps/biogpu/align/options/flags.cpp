#include "apps/biogpu/align/options/flags.hpp"

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "apps/biogpu/align/options/modes.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/align/scoring/scoring.hpp"

namespace biogpu::app {
namespace {

constexpr int kMaxResidueScore = 127;
constexpr int kMaxGapCost = 1000000;

// in_range() for scores and gap costs: of a fraction it also says how to scale them.
CLI::Validator whole_score(std::int64_t least, std::int64_t most) {
  const CLI::Validator in_bounds = in_range(least, most);
  const auto convert = [in_bounds](std::string& text) -> std::string {
    const std::string message = in_bounds(text);
    return message.empty() ? message : message + align::how_to_scale(text);
  };
  return {convert, ""};
}

// whole_score() for gap costs: other programs take them as scores below 0.
CLI::Validator gap_cost() {
  const CLI::Validator in_bounds = whole_score(0, kMaxGapCost);
  const auto convert = [in_bounds](std::string& text) -> std::string {
    const std::string message = in_bounds(text);
    const bool below_zero = !message.empty() && text.starts_with('-');
    return below_zero ? message + "; a gap's cost is subtracted, give it without the minus sign"
                      : message;
  };
  return {convert, ""};
}

void add_input_flags(CLI::App& command, AlignFlags& flags) {
  const OptionGroup input(command);
  input
      .option("QUERY", flags.query_path,
              "queries: FASTA, FASTQ, SAM, BAM or CRAM file; - is standard input", " ")
      ->required();
  input.option("TARGET", flags.target_path,
               "targets: file of the same formats; held in memory without --pairs", " ");
  input
      .option("-m,--mode", flags.mode,
              "align globally (nw), semi-globally (sg), locally (sw), or with Parasail's choice of "
              "free ends (sg_qb .. sg_qe_de)",
              "MODE")
      ->required()
      ->transform(one_of(mode_names(), true));
  command.add_flag("--pairs", flags.pairs,
                   "align the first query with the first target, the second with the second, ... "
                   "[every query with every target]");
  command.add_flag("--self", flags.self, "align every two sequences of QUERY once, without TARGET");
  const std::map<std::string, Strand> strands{
      {"forward", Strand::forward}, {"reverse", Strand::reverse}, {"both", Strand::both}};
  input
      .option("--strand", flags.strand,
              "align this strand of the query: forward, reverse or both [both for DNA without "
              "--pairs, else forward]",
              "WHICH")
      ->transform(one_of(strands, true));
}

void add_scoring_flags(CLI::App& command, AlignFlags& flags) {
  const OptionGroup scoring(command, "Scoring");
  scoring
      .option("--preset", flags.preset,
              "set scores: dna-short (2 -3, gaps 7 2, as blastn), dna-long (2 -4, gaps 6 2, as "
              "minimap2), protein (blosum62, gaps 12 1, as blastp)",
              "NAME")
      ->transform(one_of({"dna-short", "dna-long", "protein"}, true));
  const std::map<std::string, Alphabet> alphabets{
      {"auto", Alphabet::automatic}, {"dna", Alphabet::dna}, {"protein", Alphabet::protein}};
  scoring
      .option("--alphabet", flags.alphabet,
              "read letters as dna, protein or auto (by the first sequences) [auto]", "WHICH")
      ->transform(one_of(alphabets, true));
  scoring.flag("--rna", flags.rna, "score as DNA, with U the same letter as T [an unknown one]");
  scoring.option("--match", flags.match, "set the score of equal bases of DNA [2]", "N")
      ->transform(whole_score(-kMaxResidueScore, kMaxResidueScore));
  scoring
      .option("--mismatch", flags.mismatch,
              "set the score of different bases of DNA, which is added [-3]", "N")
      ->transform(whole_score(-kMaxResidueScore, kMaxResidueScore));
  scoring.option("--matrix", flags.matrix,
                 "score by blosum30 .. blosum100, blosumn, pam10 .. pam500, nuc44, dnafull, a name "
                 "of EMBOSS, or a file [protein: blosum62]",
                 "NAME");
  scoring
      .option("--gap-open", flags.gap_open,
              "set the cost of the first residue of a gap [DNA 5, protein 11]", "N")
      ->transform(gap_cost());
  scoring
      .option("--gap-extend", flags.gap_extend,
              "set the cost of each further residue of a gap [DNA 2, protein 1]", "N")
      ->transform(gap_cost());
  scoring
      .option("--gap-model", flags.gap_model,
              "count a gap of L residues as open + (L-1) extend (parasail) or open + L extend "
              "(blast) [parasail]",
              "MODEL")
      ->transform(one_of({"parasail", "blast"}, true));
  scoring
      .option("--band", flags.band, "keep paths within N diagonals of those through the corners",
              "N")
      ->transform(in_range(std::int64_t{0}, std::int64_t{1} << 40));
  scoring
      .option("--xdrop", flags.xdrop,
              "extend sw alignments from both begins until the score drops by N", "N")
      ->transform(whole_score(0, std::numeric_limits<std::int32_t>::max() / 4));
}

void add_selection_flags(CLI::App& command, AlignFlags& flags) {
  const OptionGroup selection(command, "Selection");
  selection.option("--top", flags.top, "keep the K best targets of each query, best first", "K")
      ->transform(in_range(1u, 100000000u));
  selection.option("--min-score", flags.min_score, "keep rows of at least this score", "N")
      ->transform(whole_score(std::numeric_limits<std::int32_t>::min(),
                              std::numeric_limits<std::int32_t>::max()));
  selection.option("--evalue", flags.max_evalue,
                   "keep rows of sw that are expected at most X times by chance", "X");
}

void add_output_flags(CLI::App& command, AlignFlags& flags) {
  const OptionGroup output(command, "Output");
  output.option(
      "-o", flags.out_path,
      "write the rows to this file when all are there; .gz compresses [-, standard output]",
      "FILE");
  output
      .option("--format", flags.format,
              "write tsv, sam, paf, blast6, csv, emboss or ssw [by suffix: .sam .bam .cram .paf "
              ".csv, else tsv]",
              "FORMAT")
      ->transform(one_of({"tsv", "sam", "paf", "blast6", "csv", "emboss", "ssw"}, true));
  output
      .option("--output", flags.output,
              "compute score, ends, statistics or cigar [what the format needs]", "WHAT")
      ->transform(one_of({"score", "ends", "statistics", "cigar"}, true));
  output.option("--columns", flags.columns,
                "write these columns of the TSV, as query,target,identity: see below", "LIST");
  const std::map<std::string, CigarStyle> styles{{"distinct", CigarStyle::distinct},
                                                 {"merged", CigarStyle::merged}};
  output
      .option("--cigar", flags.cigar, "write = and X (distinct) or M for both (merged) [distinct]",
              "STYLE")
      ->transform(one_of(styles, true));
}

}  // namespace

void add_align_flags(CLI::App& command, AlignFlags& flags) {
  add_input_flags(command, flags);
  add_scoring_flags(command, flags);
  add_selection_flags(command, flags);
  add_output_flags(command, flags);
  add_shared_flags(command, flags.shared);
  add_shard_flag(command, flags.shard,
                 "align part I of N of the queries; 'biogpu gather' joins parts");
}

}  // namespace biogpu::app
