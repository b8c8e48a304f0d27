// What the options of `biogpu align` mean together, and which of them contradict each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include "apps/biogpu/align/options/flags.hpp"
#include "lib/align/scoring/matrix_file.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/output/suffix.hpp"

namespace biogpu::app {
namespace {

using align::Output;

[[noreturn]] void usage(const std::string& text) { throw Error(ErrorCode::usage, text); }

struct FormatName {
  std::string_view name;  // of --format
  RowFormat format;
  std::vector<std::string_view> suffixes;    // that say this format; a name of .txt says none
  std::vector<std::string_view> also_takes;  // suffixes that a name may have with --format
};

const std::vector<FormatName>& formats() {
  static const std::vector<FormatName> known = {
      {"tsv", RowFormat::tsv, {"tsv"}, {}},
      {"sam", RowFormat::sam, {"sam"}, {}},
      {"sam", RowFormat::bam, {"bam", "cram"}, {}},
      {"paf", RowFormat::paf, {"paf"}, {"tsv"}},
      {"blast6", RowFormat::blast6, {"blast6"}, {"tsv"}},
      {"csv", RowFormat::csv, {"csv"}, {}},
      {"emboss", RowFormat::emboss, {"emboss"}, {}},
      {"ssw", RowFormat::ssw, {"ssw"}, {}},
  };
  return known;
}

bool has(const std::vector<std::string_view>& suffixes, std::string_view suffix) {
  return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

// --format and the suffix of -o must agree. The suffix tells BAM and CRAM from SAM.
RowFormat find_format(const AlignFlags& flags) {
  const bool is_told = !flags.format.empty();
  std::vector<std::string> expected{"txt"};
  for (const FormatName& format : formats()) {
    if (is_told && format.name != flags.format) continue;
    expected.insert(expected.end(), format.suffixes.begin(), format.suffixes.end());
    if (is_told)
      expected.insert(expected.end(), format.also_takes.begin(), format.also_takes.end());
  }
  const std::string wrong = io::check_suffix(
      flags.out_path, expected, is_told ? io::OtherSuffixes::accept : io::OtherSuffixes::refuse);
  if (!wrong.empty())
    usage(fmt::format("-o {}{}", wrong, is_told ? ", with --format " + flags.format : ""));
  const std::string suffix = io::suffix_of(flags.out_path).format;
  for (const FormatName& format : formats())
    if (has(format.suffixes, suffix) && (!is_told || format.name == flags.format))
      return format.format;
  for (const FormatName& format : formats())
    if (is_told && format.name == flags.format) return format.format;
  return RowFormat::tsv;
}

std::string_view format_name(RowFormat wanted) {
  if (wanted == RowFormat::bam) return "BAM";
  if (wanted == RowFormat::sam) return "SAM";
  for (const FormatName& format : formats())
    if (format.format == wanted && wanted != RowFormat::tsv) return format.name;
  return "TSV";
}

std::optional<Output> find_output(std::string_view name) {
  if (name == "score") return Output::score;
  if (name == "ends") return Output::ends;
  if (name == "statistics") return Output::statistics;
  if (name == "cigar") return Output::cigar;
  return std::nullopt;
}

void resolve_output(AlignFlags& flags) {
  flags.row_format = find_format(flags);
  const std::optional<Output> asked = find_output(flags.output);
  if (!flags.columns.empty() && flags.row_format != RowFormat::tsv)
    usage(fmt::format("--columns chooses those of the TSV; leave out --format {}",
                      format_name(flags.row_format)));
  if (flags.row_format == RowFormat::tsv) {
    flags.output_level = asked.value_or(Output::cigar);
    if (flags.columns.empty()) return;
    flags.column_list = parse_columns(flags.columns);
    const Output needed = output_needed(flags.column_list);
    if (!asked) flags.output_level = needed;
    if (flags.output_level < needed)
      usage(fmt::format("--columns {}: --output {} does not compute all of them; leave it out",
                        flags.columns, flags.output));
  } else if (flags.row_format == RowFormat::csv) {
    flags.output_level = asked.value_or(Output::ends);
    if (flags.output_level == Output::score)
      usage("--output score: CSV holds end positions; use --output ends or --format tsv");
    if (flags.output_level == Output::cigar) flags.output_level = Output::statistics;
  } else {
    flags.output_level = Output::cigar;
    if (asked && *asked != Output::cigar)
      usage(fmt::format("--output {}: {} holds a CIGAR; use --output cigar or --format tsv",
                        flags.output, format_name(flags.row_format)));
  }
}

void check_input(const AlignFlags& flags) {
  if (flags.self && !flags.target_path.empty())
    usage("--self aligns the sequences of QUERY with each other; leave out TARGET");
  if (!flags.self && flags.target_path.empty())
    usage("TARGET is required; --self aligns the sequences of QUERY with each other");
  if (flags.self && flags.pairs) usage("--self and --pairs exclude each other");
  if (flags.top && flags.pairs)
    usage("--top chooses among all targets of a query; leave out --pairs");
  if (flags.query_path == "-" && flags.target_path == "-")
    usage("QUERY and TARGET cannot both be standard input");
  const bool sam = flags.row_format == RowFormat::sam || flags.row_format == RowFormat::bam;
  std::error_code ignored;
  const bool once =
      flags.target_path == "-" || (std::filesystem::exists(flags.target_path, ignored) &&
                                   !std::filesystem::is_regular_file(flags.target_path, ignored));
  if (flags.pairs && sam && once)
    usage("the SAM header needs all targets first; give TARGET as a file, or use --format tsv");
}

// A score of the wrong sign turns the meaning of the other round, so that alignments are nonsense.
void check_signs(const AlignFlags& flags) {
  if (flags.match && *flags.match < 0)
    usage(fmt::format("--match {} would penalize equal bases; expected 0 or a reward above it",
                      *flags.match));
  if (flags.mismatch && *flags.mismatch > 0)
    usage(
        fmt::format("--mismatch {0} would reward mismatches, as it is added; for a penalty of "
                    "{0} give --mismatch -{0}",
                    *flags.mismatch));
}

void check_scoring(const AlignFlags& flags) {
  const bool simple = flags.match || flags.mismatch;
  if (!flags.matrix.empty() && simple)
    usage("--matrix and --match or --mismatch exclude each other");
  check_signs(flags);
  if (simple && flags.alphabet == Alphabet::protein)
    usage("--match and --mismatch score DNA; leave out --alphabet protein");
  const bool local = flags.mode == "sw" || flags.mode == "local";
  if (flags.xdrop && !local) usage("--xdrop extends local alignments; use --mode sw");
  if (flags.max_evalue && !local) usage("E-values are known for local alignments; use --mode sw");
  if (flags.max_evalue && !(std::isfinite(*flags.max_evalue) && *flags.max_evalue > 0))
    usage("--evalue: expected a number above 0");
  if (flags.loaded_matrix && flags.alphabet == Alphabet::dna &&
      !flags.loaded_matrix->is_nucleotide())
    usage(fmt::format("--matrix {} scores proteins; leave out --alphabet dna", flags.matrix));
  const bool protein = flags.loaded_matrix
                           ? !flags.loaded_matrix->is_nucleotide()
                           : flags.alphabet == Alphabet::protein || flags.preset == "protein";
  if (flags.rna && protein) usage("--rna speaks of nucleotides; the scores are those of proteins");
}

std::optional<align::SubstitutionMatrix> load_matrix(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (auto built_in = align::built_in_matrix(name)) return built_in;
  if (std::filesystem::exists(name)) return align::read_matrix(name);
  if (auto built_in = align::built_in_matrix(align::known_matrix_name(name))) return built_in;
  usage(
      fmt::format("--matrix {}: neither a matrix known by name nor a file; expected blosum62, "
                  "pam250, nuc44 ... or a file of scores",
                  shortened(name)));
}

}  // namespace

void AlignFlags::resolve() {
  resolve_output(*this);
  check_input(*this);
  loaded_matrix = load_matrix(matrix);
  check_scoring(*this);
  shared.require_own_outputs({{"QUERY", query_path}, {"TARGET", target_path}, {"--matrix", matrix}},
                             {{"--output", out_path}});
  shared.resolve();
}

Pairing AlignFlags::pairing() const {
  if (pairs) return Pairing::by_order;
  if (top) return Pairing::search;
  return self ? Pairing::self : Pairing::all;
}

Strand AlignFlags::searched_strands(Alphabet actual) const {
  if (strand) return *strand;
  return actual == Alphabet::dna && !pairs ? Strand::both : Strand::forward;
}

Selection AlignFlags::selection(Alphabet actual) const {
  Selection selection;
  selection.strand = searched_strands(actual);
  selection.search = pairing() == Pairing::search;
  selection.top = top.value_or(0);
  selection.not_itself = self;
  selection.min_score = min_score;
  selection.max_evalue = max_evalue;
  return selection;
}

}  // namespace biogpu::app
