// `biogpu kmer histo`: the k-mer spectrum of a database.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/jellyfish_number.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"
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
  // The plot needs the number of k-mers of each multiplicity.
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

}  // namespace

Run add_kmer_histo(CLI::App& command) {
  const auto flags = std::make_shared<HistoFlags>();
  command.set_help_flag("--help", "print this help and end");
  command.add_option("DB", flags->path, "file of the database; - is standard input")
      ->required()
      ->option_text(" ");
  command.add_option("-l,--low", flags->shape.low, "begin with the line of this count [1]")
      ->transform(jellyfish_number())
      ->option_text("N");
  command
      .add_option("-h,--high", flags->shape.high,
                  "end with the line of this count; the last line sums all above [10000]")
      ->transform(jellyfish_number())
      ->option_text("N");
  command.add_option("-i,--increment", flags->shape.increment, "put N counts into one line [1]")
      ->transform(jellyfish_number(1))
      ->option_text("N");
  command.add_flag("-f,--full", flags->full, "print lines of counts that no k-mer has, too")
      ->option_text(" ");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the histogram to this file [-, standard output]")
      ->check(text_name())
      ->option_text("FILE");
  command
      .add_option("--plot", flags->plot_path, "draw the spectrum into this file too, an SVG image")
      ->check(output_name({"svg", "txt"}, io::OtherSuffixes::accept))
      ->option_text("FILE");
  command
      .add_option("-t,--threads", flags->threads,
                  "ignore this option, which is accepted for compatibility")
      ->transform(jellyfish_number(0, UINT32_MAX))
      ->option_text("N");
  command
      .add_flag("-v,--verbose", flags->verbose,
                "ignore this option, which is accepted for compatibility")
      ->option_text(" ");
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

}  // namespace biogpu::app
