// `biogpu kmer stats`: unique, distinct and total k-mers of a database.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/database/reader.hpp"

namespace biogpu::app {
namespace {

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

}  // namespace

Run add_kmer_stats(CLI::App& command) {
  const auto flags = std::make_shared<StatsFlags>();
  command.add_option("DB", flags->path, "file of the database; - is standard input")
      ->required()
      ->option_text(" ");
  add_count_bounds(OptionGroup(command), flags->bounds);
  command
      .add_option("-o,--output", flags->out_path,
                  "write the numbers to this file [-, standard output]")
      ->check(text_name())
      ->option_text("FILE");
  command
      .add_flag("-v,--verbose", flags->verbose,
                "ignore this option, which is accepted for compatibility")
      ->option_text(" ");
  command.footer(std::string("Unique: k-mers that occur once. Distinct: k-mers, each once. Total: "
                             "with multiplicity.\n\n"
                             "Examples:\n"
                             "  biogpu kmer stats out.jf\n"
                             "  biogpu kmer stats -L 2 out.jf\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_stats(*flags); };
}

}  // namespace biogpu::app
