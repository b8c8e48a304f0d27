// `biogpu cite`: the papers of the methods that a command uses, as BibTeX.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "apps/biogpu/command_line/command.hpp"
#include "lib/core/error.hpp"
#include "lib/core/version.hpp"

namespace biogpu::app {
namespace {

constexpr char kCiteFooter[] =
    "Examples:\n"
    "  biogpu cite align >> references.bib\n\n";

struct Paper {
  std::string_view command;
  std::string_view key;
  std::string_view author;
  std::string_view title;
  std::string_view journal;
  int year;
  std::string_view doi;
};

constexpr Paper kPapers[] = {
    {"align", "needleman1970", "Needleman, Saul B. and Wunsch, Christian D.",
     "A general method applicable to the search for similarities in the amino acid sequence of two "
     "proteins",
     "Journal of Molecular Biology", 1970, "10.1016/0022-2836(70)90057-4"},
    {"align", "smith1981", "Smith, Temple F. and Waterman, Michael S.",
     "Identification of common molecular subsequences", "Journal of Molecular Biology", 1981,
     "10.1016/0022-2836(81)90087-5"},
    {"align", "gotoh1982", "Gotoh, Osamu",
     "An improved algorithm for matching biological sequences", "Journal of Molecular Biology",
     1982, "10.1016/0022-2836(82)90398-9"},
    {"align", "karlin1990", "Karlin, Samuel and Altschul, Stephen F.",
     "Methods for assessing the statistical significance of molecular sequence features by using "
     "general scoring schemes",
     "Proceedings of the National Academy of Sciences", 1990, "10.1073/pnas.87.6.2264"},
    {"align", "daily2016", "Daily, Jeff",
     "Parasail: SIMD C library for global, semi-global, and local pairwise sequence alignments",
     "BMC Bioinformatics", 2016, "10.1186/s12859-016-0930-z"},
    {"align", "suzuki2018", "Suzuki, Hajime and Kasahara, Masahiro",
     "Introducing difference recurrence relations for faster semi-global alignment of long "
     "sequences",
     "BMC Bioinformatics", 2018, "10.1186/s12859-018-2014-8"},
    {"bwt", "ferragina2000", "Ferragina, Paolo and Manzini, Giovanni",
     "Opportunistic data structures with applications",
     "Proceedings of the 41st Annual Symposium on Foundations of Computer Science", 2000,
     "10.1109/SFCS.2000.892127"},
    {"bwt", "li2009", "Li, Heng and Durbin, Richard",
     "Fast and accurate short read alignment with Burrows-Wheeler transform", "Bioinformatics",
     2009, "10.1093/bioinformatics/btp324"},
    {"bwt", "nong2011", "Nong, Ge and Zhang, Sen and Chan, Wai Hong",
     "Two efficient algorithms for linear time suffix array construction",
     "IEEE Transactions on Computers", 2011, "10.1109/TC.2010.188"},
    {"bwt", "li2012", "Li, Heng",
     "Exploring single-sample SNP and INDEL calling with whole-genome de novo assembly",
     "Bioinformatics", 2012, "10.1093/bioinformatics/bts280"},
    {"kmer", "roberts2004",
     "Roberts, Michael and Hayes, Wayne and Hunt, Brian R. and Mount, Stephen M. and Yorke, James "
     "A.",
     "Reducing storage requirements for biological sequence comparison", "Bioinformatics", 2004,
     "10.1093/bioinformatics/bth408"},
    {"kmer", "marcais2011", "Mar{\\c{c}}ais, Guillaume and Kingsford, Carl",
     "A fast, lock-free approach for efficient parallel counting of occurrences of k-mers",
     "Bioinformatics", 2011, "10.1093/bioinformatics/btr011"},
    {"kmer", "ondov2016",
     "Ondov, Brian D. and Treangen, Todd J. and Melsted, P{\\'a}ll and Mallonee, Adam B. and "
     "Bergman, Nicholas H. and Koren, Sergey and Phillippy, Adam M.",
     "Mash: fast genome and metagenome distance estimation using MinHash", "Genome Biology", 2016,
     "10.1186/s13059-016-0997-x"},
    {"qc", "chen2018", "Chen, Shifu and Zhou, Yanqing and Chen, Yaru and Gu, Jia",
     "fastp: an ultra-fast all-in-one FASTQ preprocessor", "Bioinformatics", 2018,
     "10.1093/bioinformatics/bty560"},
    {"infer", "elnaggar2022", "Elnaggar, Ahmed and others",
     "ProtTrans: toward understanding the language of life through self-supervised learning",
     "IEEE Transactions on Pattern Analysis and Machine Intelligence", 2022,
     "10.1109/TPAMI.2021.3095381"},
    {"infer", "dauparas2022", "Dauparas, Justas and others",
     "Robust deep learning-based protein sequence design using ProteinMPNN", "Science", 2022,
     "10.1126/science.add2187"},
    {"infer", "lin2023", "Lin, Zeming and others",
     "Evolutionary-scale prediction of atomic-level protein structure with a language model",
     "Science", 2023, "10.1126/science.ade2574"},
};

std::string bibtex(const Paper& paper) {
  return fmt::format(
      "@article{{{},\n  author = {{{}}},\n  title = {{{{{}}}}},\n  journal = {{{}}},\n"
      "  year = {{{}}},\n  doi = {{{}}}\n}}\n",
      paper.key, paper.author, paper.title, paper.journal, paper.year, paper.doi);
}

void run_cite(std::string_view command) {
  const bool all = command.empty();
  if (!all && std::none_of(std::begin(kPapers), std::end(kPapers),
                           [&](const Paper& paper) { return paper.command == command; }))
    throw Error(ErrorCode::usage,
                fmt::format("no papers for '{}'; expected align, bwt, infer, kmer or qc", command));
  std::string text = fmt::format(
      "@software{{biogpu,\n  author = {{{{The biogpu authors}}}},\n  title = {{biogpu}},\n"
      "  version = {{{}}}\n}}\n",
      kVersion);
  for (const Paper& paper : kPapers)
    if (all || paper.command == command) text += bibtex(paper);
  print(text);
}

}  // namespace

Run add_cite(CLI::App& command) {
  command.footer(kCiteFooter + std::string(kExitCodes));
  const auto name = std::make_shared<std::string>();
  command
      .add_option("COMMAND", *name,
                  "command whose papers are printed: align, bwt, infer, kmer or qc [all of them]")
      ->option_text(" ");
  return [name](const std::string&) { run_cite(*name); };
}

}  // namespace biogpu::app
