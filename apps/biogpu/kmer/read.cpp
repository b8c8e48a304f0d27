// The subcommands that read a database from beginning to end: histo, dump, stats, info.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/numbers.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/database/jellyfish_file.hpp"
#include "lib/kmer/database/reader.hpp"
#include "lib/kmer/histogram.hpp"
#include "lib/kmer/spectrum.hpp"

namespace biogpu::app {
namespace {

struct HistoFlags {
  std::string path;
  std::string out_path = "-";
  kmer::HistogramShape shape;
  std::string plot_path;
  bool full = false;
  std::uint32_t threads = 1;
  bool verbose = false;
};

void run_histo(const HistoFlags& flags) {
  check_files({flags.path}, std::vector<io::NamedFile>{{"--output", flags.out_path},
                                                       {"--plot", flags.plot_path}});
  kmer::Histogram histogram(flags.shape);
  const bool plots = !flags.plot_path.empty();
  // The plot wants the number of k-mers of each multiplicity, whatever --low and --increment say.
  if (plots && (histogram.base() != 0 || histogram.increment() != 1))
    throw Error(ErrorCode::usage, "--plot needs --low 1 and --increment 1");
  kmer::DatabaseReader reader(flags.path);
  io::OutputFile out(flags.out_path);
  std::optional<io::OutputFile> plot;
  if (plots) plot.emplace(flags.plot_path);
  for (kmer::CountBlock block; reader.read(block);) histogram.add(block.counts);
  out.write(histogram.text(flags.full));
  if (plot) {
    plot->write(kmer::spectrum_svg(histogram.buckets(),
                                   fmt::format("{}, k = {}", flags.path, reader.header().k)));
    plot->finish();
  }
  const io::CommitGuard guard;
  out.commit();
  if (plot) plot->commit();
}

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

struct StatsFlags {
  std::string path;
  std::string out_path = "-";
  CountBounds bounds;
  bool verbose = false;
};

void run_stats(const StatsFlags& flags) {
  check_files({flags.path}, flags.out_path);
  std::uint64_t n_unique = 0;
  std::uint64_t n_distinct = 0;
  std::uint64_t total = 0;
  std::uint64_t max_count = 0;
  kmer::DatabaseReader reader(flags.path);
  for (kmer::CountBlock block; reader.read(block);)
    for (const std::uint64_t count : block.counts) {
      if (!flags.bounds.holds(count)) continue;
      n_unique += count == 1;
      ++n_distinct;
      total += count;
      max_count = std::max(max_count, count);
    }
  io::OutputFile out(flags.out_path);
  out.write(fmt::format("Unique:    {}\nDistinct:  {}\nTotal:     {}\nMax_count: {}\n", n_unique,
                        n_distinct, total, max_count));
  out.commit();
}

struct InfoFlags {
  std::string path;
  bool skip = false;
  bool json = false;
  bool command = false;
};

void copy_records(kmer::DatabaseReader& reader, io::OutputFile& out) {
  const kmer::Header& header = reader.header();
  std::string bytes;
  for (kmer::CountBlock block; reader.read(block);) {
    bytes.clear();
    if (header.format == kmer::Format::jellyfish)
      kmer::append_jellyfish_records(header, block, bytes);
    else
      kmer::append_jellyfish_lines(header, block, ' ', bytes);
    out.write(bytes);
  }
}

// A word of a command as a shell reads it back, in quotes where Jellyfish puts them, and where it
// is empty.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word)
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  return text + "'";
}

std::string command_line(const kmer::Header& header) {
  std::string line = shell_word(header.program);
  for (const std::string& word : header.command) line += " " + shell_word(word);
  return line;
}

void run_info(const InfoFlags& flags) {
  kmer::DatabaseReader reader(flags.path);
  const kmer::Header& header = reader.header();
  // In biogpu's own format all that lies behind the records.
  if (header.format == kmer::Format::native && !flags.skip)
    for (kmer::CountBlock block; reader.read(block);) {
    }
  io::OutputFile out("-");
  const std::string command = command_line(header);
  if (flags.skip)
    copy_records(reader, out);
  else if (flags.json)
    out.write(kmer::styled_header(header));
  else if (flags.command)
    out.write(command + "\n");
  else
    out.write(fmt::format("command: {}\nwhere: {}:{}\nwhen: {}\ncanonical: {}\n", command,
                          header.host, header.folder, header.time,
                          header.canonical ? "yes" : "no"));
  out.commit();
}

}  // namespace

Run add_kmer_histo(CLI::App& command) {
  const auto flags = std::make_shared<HistoFlags>();
  command.set_help_flag("--help", "print this help");
  command.add_option("DB", flags->path, "the database; - is standard input")
      ->required()
      ->option_text(" ");
  command.add_option("-l,--low", flags->shape.low, "lowest count of interest [1]")
      ->transform(jellyfish_number())
      ->option_text("N");
  command.add_option("-h,--high", flags->shape.high, "highest count of interest [10000]")
      ->transform(jellyfish_number())
      ->option_text("N");
  command.add_option("-i,--increment", flags->shape.increment, "counts in a bucket [1]")
      ->transform(jellyfish_number(1))
      ->option_text("N");
  command.add_flag("-f,--full", flags->full, "print empty buckets too")->option_text(" ");
  command.add_option("-o,--output", flags->out_path, "[-, stdout]")->option_text("FILE");
  command.add_option("--plot", flags->plot_path, "also draw the spectrum, an SVG image")
      ->option_text("FILE");
  command.add_option("-t,--threads", flags->threads, "accepted and ignored")
      ->transform(jellyfish_number(0, UINT32_MAX))
      ->option_text("N");
  command.add_flag("-v,--verbose", flags->verbose, "accepted and ignored")->option_text(" ");
  command.footer(
      std::string("One line a bucket: its lowest count, a blank, the number of k-mers. What lies\n"
                  "below --low is in the bucket before it, what lies above --high in the one "
                  "after.\n\n"
                  "Examples:\n"
                  "  biogpu kmer histo out.jf -o sample_jf.hist\n"
                  "  biogpu kmer histo -h 1000000 --plot spectrum.svg out.jf\n\n") +
      kExitCodes);
  return [flags](const std::string&) { run_histo(*flags); };
}

Run add_kmer_dump(CLI::App& command) {
  const auto flags = std::make_shared<DumpFlags>();
  command.add_option("DB", flags->path, "the database; - is standard input")
      ->required()
      ->option_text(" ");
  command
      .add_flag("-c,--column", flags->column, "a line of k-mer and count [FASTA, count as name]")
      ->option_text(" ");
  command.add_flag("-t,--tab", flags->tab, "separate columns by a tab [blank]")->option_text(" ");
  add_count_bounds(OptionGroup(command), flags->bounds);
  command.add_option("-o,--output", flags->out_path, ".gz compresses [-, stdout]")
      ->option_text("FILE");
  command.footer(std::string("Records come in the order of the database.\n\n"
                             "Examples:\n"
                             "  biogpu kmer dump -c -L 2 out.jf -o counts.txt\n"
                             "  biogpu kmer dump out.jf -o kmers.fa.gz\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_dump(*flags); };
}

Run add_kmer_stats(CLI::App& command) {
  const auto flags = std::make_shared<StatsFlags>();
  command.add_option("DB", flags->path, "the database; - is standard input")
      ->required()
      ->option_text(" ");
  add_count_bounds(OptionGroup(command), flags->bounds);
  command.add_option("-o,--output", flags->out_path, "[-, stdout]")->option_text("FILE");
  command.add_flag("-v,--verbose", flags->verbose, "accepted and ignored")->option_text(" ");
  command.footer(std::string("Unique: k-mers that occur once. Distinct: k-mers, each once. Total: "
                             "with multiplicity.\n\n"
                             "Examples:\n"
                             "  biogpu kmer stats out.jf\n"
                             "  biogpu kmer stats -L 2 out.jf\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_stats(*flags); };
}

Run add_kmer_info(CLI::App& command) {
  const auto flags = std::make_shared<InfoFlags>();
  command.add_option("DB", flags->path, "the database; - is standard input")
      ->required()
      ->option_text(" ");
  command.add_flag("-s,--skip", flags->skip, "write the records as they are, without the header")
      ->option_text(" ");
  command.add_flag("-j,--json", flags->json, "the whole header as JSON")->option_text(" ");
  command.add_flag("-c,--cmd", flags->command, "the command line alone")->option_text(" ");
  command.footer(std::string("Examples:\n"
                             "  biogpu kmer info out.jf\n"
                             "  biogpu kmer info --json out.jf\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_info(*flags); };
}

}  // namespace biogpu::app
