// `biogpu kmer dump`: the k-mers and counts of a database as FASTA or columns.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/reader.hpp"

namespace biogpu::app {
namespace {

struct DumpFlags {
  std::string path;
  std::string out_path = "-";
  bool column = false;
  bool tab = false;
  CountBounds bounds;
};

void append_fasta(const kmer::CountBlock& block, std::size_t i, int k, std::string& text) {
  fmt::format_to(std::back_inserter(text), ">{}\n", block.counts[i]);
  kmer::append_letters(block.key(i), k, text);
  text += '\n';
}

void append_columns(const kmer::CountBlock& block, std::size_t i, int k, char separator,
                    std::string& text) {
  kmer::append_letters(block.key(i), k, text);
  fmt::format_to(std::back_inserter(text), "{}{}\n", separator, block.counts[i]);
}

void run_dump(const DumpFlags& flags) {
  check_files({flags.path}, flags.out_path);
  kmer::DatabaseReader reader(flags.path);
  const int k = reader.header().k;
  io::OutputFile out(flags.out_path);
  std::string text;
  for (kmer::CountBlock block; reader.read(block);) {
    text.clear();
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!flags.bounds.holds(block.counts[i])) continue;
      if (flags.column)
        append_columns(block, i, k, flags.tab ? '\t' : ' ', text);
      else
        append_fasta(block, i, k, text);
    }
    out.write(text);
  }
  out.commit();
}

}  // namespace

Run add_kmer_dump(CLI::App& command) {
  const auto flags = std::make_shared<DumpFlags>();
  command.add_option("DB", flags->path, "file of the database; - is standard input")
      ->required()
      ->option_text(" ");
  command
      .add_flag("-c,--column", flags->column,
                "write a line of k-mer and count [FASTA, count as name]")
      ->option_text(" ");
  command.add_flag("-t,--tab", flags->tab, "separate the columns by a tab [blank]")
      ->option_text(" ");
  add_count_bounds(OptionGroup(command), flags->bounds);
  command
      .add_option("-o,--output", flags->out_path,
                  "write the k-mers to this file, compressed where its name ends in .gz [-, "
                  "standard output]")
      ->check(text_name({"fasta"}))
      ->option_text("FILE");
  command.footer(std::string("Records come in the order of the database.\n\n"
                             "Examples:\n"
                             "  biogpu kmer dump -c -L 2 out.jf -o counts.txt\n"
                             "  biogpu kmer dump out.jf -o kmers.fa.gz\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_dump(*flags); };
}

}  // namespace biogpu::app
