#include "apps/biogpu/align_flags.hpp"

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "apps/biogpu/align_modes.hpp"
#include "apps/biogpu/shared_flags.hpp"

namespace biogpu::app {
namespace {

constexpr int kMaxResidueScore = 127;
constexpr int kMaxGapCost = 1000000;

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

void add_input_flags(CLI::App& command, AlignFlags& flags) {
  command.add_option("QUERY", flags.query_path, "FASTA, FASTQ, SAM, BAM or CRAM; - is stdin")
      ->required()
      ->option_text(" ");
  command.add_option("TARGET", flags.target_path, "the same; held in memory without --pairs")
      ->option_text(" ");
  command
      .add_option("-m,--mode", flags.mode,
                  "nw (global), sg (semi-global), sw (local), or\n"
                  "Parasail's sg_qb .. sg_qe_de for chosen free ends")
      ->required()
      ->check(one_of(mode_names()))
      ->option_text("MODE");
  command.add_flag("--pairs", flags.pairs,
                   "first query with first target, second with second, ...\n"
                   "[every query with every target]");
  command.add_flag("--self", flags.self, "no TARGET: every two sequences of QUERY once");
  const std::map<std::string, Strand> strands{
      {"forward", Strand::forward}, {"reverse", Strand::reverse}, {"both", Strand::both}};
  command
      .add_option("--strand", flags.strand,
                  "DNA queries: forward, reverse, both (the better) [forward]")
      ->transform(CLI::CheckedTransformer(strands).description(""))
      ->option_text("WHICH");
}

void add_scoring_flags(CLI::App& command, AlignFlags& flags) {
  constexpr char kScoring[] = "Scoring";
  command
      .add_option("--preset", flags.preset,
                  "dna-short: 2 -3, gaps 7 2 (blastn); dna-long: 2 -4, gaps\n"
                  "6 2 (minimap2); protein: blosum62, gaps 12 1 (blastp)")
      ->check(one_of({"dna-short", "dna-long", "protein"}))
      ->option_text("NAME")
      ->group(kScoring);
  const std::map<std::string, Alphabet> alphabets{
      {"auto", Alphabet::automatic}, {"dna", Alphabet::dna}, {"protein", Alphabet::protein}};
  command
      .add_option("--alphabet", flags.alphabet, "dna, protein, auto (by the first queries) [auto]")
      ->transform(CLI::CheckedTransformer(alphabets).description(""))
      ->option_text("WHICH")
      ->group(kScoring);
  command.add_option("--match", flags.match, "DNA: score of equal bases [2]")
      ->check(CLI::Range(-kMaxResidueScore, kMaxResidueScore))
      ->option_text("N")
      ->group(kScoring);
  command.add_option("--mismatch", flags.mismatch, "DNA: score of different bases, added [-3]")
      ->check(CLI::Range(-kMaxResidueScore, kMaxResidueScore))
      ->option_text("N")
      ->group(kScoring);
  command
      .add_option("--matrix", flags.matrix,
                  "blosum30 .. blosum100, blosumn, pam10 .. pam500, nuc44,\n"
                  "dnafull, or a file in NCBI's form [protein: blosum62]")
      ->option_text("NAME")
      ->group(kScoring);
  command
      .add_option("--gap-open", flags.gap_open, "cost of a gap's first residue [DNA 5, protein 11]")
      ->check(CLI::Range(0, kMaxGapCost))
      ->option_text("N")
      ->group(kScoring);
  command
      .add_option("--gap-extend", flags.gap_extend,
                  "of each further one [DNA 2, protein 1]; as open: linear")
      ->check(CLI::Range(0, kMaxGapCost))
      ->option_text("N")
      ->group(kScoring);
  command
      .add_option("--gap-model", flags.gap_model,
                  "parasail: open + (L-1) extend; blast: open + L extend\n[parasail]")
      ->check(one_of({"parasail", "blast"}))
      ->option_text("MODEL")
      ->group(kScoring);
  command.add_option("--band", flags.band, "keep to N diagonals on either side of the corners'")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->option_text("N")
      ->group(kScoring);
  command
      .add_option("--xdrop", flags.xdrop, "sw: extend from both begins until the score drops by N")
      ->check(CLI::Range(0, std::numeric_limits<std::int32_t>::max() / 4))
      ->option_text("N")
      ->group(kScoring);
}

void add_selection_flags(CLI::App& command, AlignFlags& flags) {
  constexpr char kSelection[] = "Selection";
  command.add_option("--top", flags.top, "the K best targets of each query, best first")
      ->check(CLI::Range(1u, 100000000u))
      ->option_text("K")
      ->group(kSelection);
  command.add_option("--min-score", flags.min_score, "rows of at least this score")
      ->option_text("N")
      ->group(kSelection);
  command.add_option("--evalue", flags.max_evalue, "sw: rows expected at most X times by chance")
      ->check(CLI::PositiveNumber.description(""))
      ->option_text("X")
      ->group(kSelection);
}

void add_output_flags(CLI::App& command, AlignFlags& flags) {
  constexpr char kOutput[] = "Output";
  command.add_option("-o", flags.out_path, "written when whole; .gz compresses [-, stdout]")
      ->option_text("FILE")
      ->group(kOutput);
  command
      .add_option("--format", flags.format,
                  "tsv, sam, paf, blast6, csv, emboss, ssw\n"
                  "[by suffix: .sam .bam .cram .paf .csv, else tsv]")
      ->check(one_of({"tsv", "sam", "paf", "blast6", "csv", "emboss", "ssw"}))
      ->option_text("FORMAT")
      ->group(kOutput);
  command
      .add_option("--output", flags.output,
                  "score, ends, statistics, cigar: what to compute\n[what the format needs]")
      ->check(one_of({"score", "ends", "statistics", "cigar"}))
      ->option_text("WHAT")
      ->group(kOutput);
  command.add_option("--columns", flags.columns, "of the TSV, as query,target,identity: see below")
      ->option_text("LIST")
      ->group(kOutput);
  const std::map<std::string, CigarStyle> styles{{"distinct", CigarStyle::distinct},
                                                 {"merged", CigarStyle::merged}};
  command.add_option("--cigar", flags.cigar, "distinct: = and X; merged: M for both [distinct]")
      ->transform(CLI::CheckedTransformer(styles).description(""))
      ->option_text("STYLE")
      ->group(kOutput);
}

}  // namespace

void add_align_flags(CLI::App& command, AlignFlags& flags) {
  add_input_flags(command, flags);
  add_scoring_flags(command, flags);
  add_selection_flags(command, flags);
  add_output_flags(command, flags);
  add_shared_flags(command, flags.shared);
}

}  // namespace biogpu::app
