#include "apps/biogpu/align_flags.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

constexpr int kMaxResidueScore = 127;
constexpr int kMaxGapCost = 1000000;

struct ModeName {
  const char* name;
  align::Mode mode;
  align::FreeEnds free_ends;  // query begin, query end, target begin, target end
};

// Parasail's names (q = query, d = target; b, e, x = begin, end, both) and the words for them.
constexpr align::FreeEnds kAllFree{true, true, true, true};
constexpr std::array kModes = {
    ModeName{"nw", align::Mode::global, {}},
    ModeName{"global", align::Mode::global, {}},
    ModeName{"sw", align::Mode::local, {}},
    ModeName{"local", align::Mode::local, {}},
    ModeName{"sg", align::Mode::semiglobal, kAllFree},
    ModeName{"semiglobal", align::Mode::semiglobal, kAllFree},
    ModeName{"sg_qb", align::Mode::semiglobal, {true, false, false, false}},
    ModeName{"sg_qe", align::Mode::semiglobal, {false, true, false, false}},
    ModeName{"sg_qx", align::Mode::semiglobal, {true, true, false, false}},
    ModeName{"sg_db", align::Mode::semiglobal, {false, false, true, false}},
    ModeName{"sg_de", align::Mode::semiglobal, {false, false, false, true}},
    ModeName{"sg_dx", align::Mode::semiglobal, {false, false, true, true}},
    ModeName{"sg_qb_de", align::Mode::semiglobal, {true, false, false, true}},
    ModeName{"sg_qe_db", align::Mode::semiglobal, {false, true, true, false}},
    ModeName{"sg_qb_db", align::Mode::semiglobal, {true, false, true, false}},
    ModeName{"sg_qe_de", align::Mode::semiglobal, {false, true, false, true}},
};

struct GapCosts {
  int open = 0;
  int extend = 0;
};

// In Parasail's model. The defaults are stated in that model and are never converted.
GapCosts gap_costs(const AlignFlags& flags, Alphabet alphabet) {
  const GapCosts defaults = alphabet == Alphabet::dna ? GapCosts{5, 2} : GapCosts{11, 1};
  GapCosts costs;
  costs.extend = flags.gap_extend.value_or(defaults.extend);
  costs.open = flags.gap_open.value_or(defaults.open);
  if (flags.gap_open && flags.gap_model == "blast")
    costs.open = align::parasail_gap_open(costs.open, costs.extend);
  return costs;
}

constexpr int kDefaultMatch = 2;
constexpr int kDefaultMismatch = -3;

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

[[noreturn]] void usage(const std::string& text) { throw Error(ErrorCode::usage, text); }

}  // namespace

RowFormat AlignFlags::row_format() const {
  if (format == "tsv") return RowFormat::tsv;
  if (format == "sam") return RowFormat::sam;
  for (const char* suffix : {".sam", ".bam", ".cram"})
    if (ends_with(out_path, suffix)) return RowFormat::sam;
  return RowFormat::tsv;
}

Alphabet AlignFlags::stated_alphabet() const {
  if (alphabet != Alphabet::automatic) return alphabet;
  if (match || mismatch) return Alphabet::dna;
  return matrix.empty() ? Alphabet::automatic : Alphabet::protein;
}

void AlignFlags::resolve() {
  if (!matrix.empty() && (match || mismatch))
    usage("--matrix and --match or --mismatch exclude each other");
  if (!matrix.empty() && alphabet == Alphabet::dna)
    usage("--matrix blosum62 scores proteins; leave out --alphabet dna");
  if ((match || mismatch) && alphabet == Alphabet::protein)
    usage("--match and --mismatch score DNA; leave out --alphabet protein");
  if (row_format() == RowFormat::sam && output != "cigar")
    usage(
        fmt::format("--output {}: SAM holds a CIGAR; use --output cigar or --format tsv", output));
  if (query_path == "-" && target_path == "-")
    usage("QUERY and TARGET cannot both be standard input");
  if (pairs && row_format() == RowFormat::sam && target_path == "-")
    usage("the SAM header needs all targets first; give TARGET as a file, or use --format tsv");
  if (shared.json == "-" && out_path == "-")
    usage("--json - and the alignments cannot both go to standard output; add -o FILE");
  shared.resolve();
}

void add_align_flags(CLI::App& command, AlignFlags& flags) {
  constexpr char kScoring[] = "Scoring";
  constexpr char kOutput[] = "Output";
  command.add_option("QUERY", flags.query_path, "FASTA, FASTQ, SAM, BAM or CRAM; - is stdin")
      ->required()
      ->option_text(" ");
  command.add_option("TARGET", flags.target_path, "the same; held in memory without --pairs")
      ->required()
      ->option_text(" ");
  std::vector<std::string> modes;
  modes.reserve(kModes.size());
  for (const ModeName& mode : kModes) modes.emplace_back(mode.name);
  command
      .add_option("-m,--mode", flags.mode,
                  "nw (global), sg (semi-global), sw (local), or\n"
                  "Parasail's sg_qb .. sg_qe_de for chosen free ends")
      ->required()
      ->check(CLI::IsMember(modes).description(""))
      ->option_text("MODE");
  command.add_flag("--pairs", flags.pairs,
                   "first query with first target, second with second, ...\n"
                   "[every query with every target]");

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
  command.add_option("--matrix", flags.matrix, "protein: blosum62 [blosum62]")
      ->check(CLI::IsMember(std::vector<std::string>{"blosum62"}).description(""))
      ->option_text("NAME")
      ->group(kScoring);
  command
      .add_option("--gap-open", flags.gap_open, "cost of a gap's first residue [DNA 5, protein 11]")
      ->check(CLI::Range(0, kMaxGapCost))
      ->option_text("N")
      ->group(kScoring);
  command.add_option("--gap-extend", flags.gap_extend, "of each further one [DNA 2, protein 1]")
      ->check(CLI::Range(0, kMaxGapCost))
      ->option_text("N")
      ->group(kScoring);
  command
      .add_option("--gap-model", flags.gap_model,
                  "parasail: open + (L-1) extend; blast: open + L extend\n[parasail]")
      ->check(CLI::IsMember(std::vector<std::string>{"parasail", "blast"}).description(""))
      ->option_text("MODEL")
      ->group(kScoring);

  command.add_option("-o", flags.out_path, "written when whole; .gz compresses [-, stdout]")
      ->option_text("FILE")
      ->group(kOutput);
  command.add_option("--format", flags.format, "tsv, sam [by suffix: .sam .bam .cram, else tsv]")
      ->check(CLI::IsMember(std::vector<std::string>{"tsv", "sam"}).description(""))
      ->option_text("FORMAT")
      ->group(kOutput);
  command.add_option("--output", flags.output, "score, ends, cigar: what to compute [cigar]")
      ->check(CLI::IsMember(std::vector<std::string>{"score", "ends", "cigar"}).description(""))
      ->option_text("WHAT")
      ->group(kOutput);
  add_shared_flags(command, flags.shared);
}

Alphabet guess_alphabet(const io::SequenceBatch& batch) {
  std::array<bool, 256> nucleotide{};
  for (const char c : std::string_view("ACGTUNacgtun"))
    nucleotide[static_cast<unsigned char>(c)] = true;
  constexpr std::uint64_t kEnough = 1u << 16;
  std::uint64_t n_letters = 0;
  std::uint64_t n_nucleotides = 0;
  for (std::size_t i = 0; i < batch.size() && n_letters < kEnough; ++i)
    for (const char c : batch.sequence(i).substr(0, kEnough)) {
      ++n_letters;
      n_nucleotides += nucleotide[static_cast<unsigned char>(c)];
    }
  return n_nucleotides * 10 >= n_letters * 9 ? Alphabet::dna : Alphabet::protein;
}

align::Options make_options(const AlignFlags& flags, Alphabet alphabet) {
  align::Options options;
  for (const ModeName& mode : kModes)
    if (flags.mode == mode.name) {
      options.mode = mode.mode;
      options.free_ends = mode.free_ends;
    }
  options.output = flags.output == "score"  ? align::Output::score
                   : flags.output == "ends" ? align::Output::ends
                                            : align::Output::cigar;
  const GapCosts gap = gap_costs(flags, alphabet);
  options.scoring =
      alphabet == Alphabet::dna
          ? align::dna_scoring(flags.match.value_or(kDefaultMatch),
                               flags.mismatch.value_or(kDefaultMismatch), gap.open, gap.extend)
          : align::blosum62_scoring(gap.open, gap.extend);
  return options;
}

std::string describe_scoring(const AlignFlags& flags, Alphabet alphabet) {
  const GapCosts gap = gap_costs(flags, alphabet);
  const std::string residues =
      alphabet == Alphabet::dna
          ? fmt::format("dna, match {}, mismatch {}", flags.match.value_or(kDefaultMatch),
                        flags.mismatch.value_or(kDefaultMismatch))
          : std::string("protein, blosum62");
  return fmt::format(
      "{}{}, gap open {}, extend {}", residues,
      flags.stated_alphabet() == Alphabet::automatic ? " (by the first queries)" : "", gap.open,
      gap.extend);
}

}  // namespace biogpu::app
