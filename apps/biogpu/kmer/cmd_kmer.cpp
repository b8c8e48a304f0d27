#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/jellyfish_number.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output/suffix.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kKmerSubcommands[] = {
    {"count", "count the k-mers of sequence files", add_kmer_count, "Count"},
    {"bc", "make a Bloom counter for 'count --bc'", add_kmer_bc, "Count"},
    {"histo", "print the k-mer spectrum: number of k-mers with each count", add_kmer_histo,
     "Read a database"},
    {"dump", "print k-mers and counts as FASTA or columns", add_kmer_dump, "Read a database"},
    {"stats", "print the numbers of unique, distinct and total k-mers", add_kmer_stats,
     "Read a database"},
    {"query", "print the counts of given k-mers or sequences", add_kmer_query, "Read a database"},
    {"info", "print the header of a database", add_kmer_info, "Read a database"},
    {"merge", "add up counts, or take minima or maxima", add_kmer_merge, "Combine databases"},
    {"set", "combine databases: union, intersection, difference, filter", add_kmer_set,
     "Combine databases"},
    {"sketch", "make MinHash sketches of sequence files", add_kmer_sketch, "Compare sequences"},
    {"dist", "print distances between sketches, as Mash does", add_kmer_dist, "Compare sequences"},
};

constexpr char kKmerFooter[] =
    "Options and texts are Jellyfish's; 'biogpu kmer count --help' says what is added.\n\n"
    "Examples:\n"
    "  biogpu kmer count -m 21 -C -t 2 -o out.jf reads_1.fq reads_2.fq.gz\n"
    "  biogpu kmer histo out.jf\n\n";

}  // namespace

CLI::Option* add_count_bounds(const OptionGroup& group, CountBounds& bounds) {
  CLI::Option* const lower =
      group.option("-L,--lower-count", bounds.lower, "leave out k-mers with a lower count", "N");
  lower->transform(jellyfish_number());
  group.option("-U,--upper-count", bounds.upper, "leave out k-mers with a higher count", "N")
      ->transform(jellyfish_number());
  return lower;
}

std::vector<std::string> split_words(const std::string& command_line) {
  std::istringstream text(command_line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

void require_plain_name(const std::string& database, const std::vector<std::string>& formats) {
  if (io::is_gzip_name(database))
    throw Error(ErrorCode::usage, fmt::format("{}: databases are not compressed; expected a name "
                                              "without .gz",
                                              database));
  const std::string wrong = io::check_suffix(database, formats, io::OtherSuffixes::accept);
  if (!wrong.empty()) throw Error(ErrorCode::usage, "--output: " + wrong);
}

void check_files(const std::vector<std::string>& inputs, std::span<const io::NamedFile> outputs) {
  std::vector<io::NamedFile> named;
  named.reserve(inputs.size());
  for (const std::string& path : inputs) named.push_back({"the input", path});
  io::require_distinct_files(named, outputs);
}

Run add_kmer(CLI::App& command) { return add_subcommands(command, kKmerSubcommands, kKmerFooter); }

}  // namespace biogpu::app
