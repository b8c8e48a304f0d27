// `biogpu kmer merge`: sums, minima or maxima of the counts of databases, and their Jaccard index.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/biogpu/kmer/combine.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

struct MergeFlags {
  std::vector<std::string> paths;
  std::string out_path = "mer_counts_merged.jf";
  bool min = false;
  bool max = false;
  bool jaccard = false;
  CountBounds bounds;
};

// Shared k-mers over all k-mers, without and with multiplicity.
void write_jaccard(kmer::Combiner& combiner, io::OutputFile& out) {
  std::uint64_t n_shared = 0;
  std::uint64_t n_all = 0;
  std::uint64_t sum_min = 0;
  std::uint64_t sum_max = 0;
  for (kmer::CountBlock block; combiner.read(block, [&](const CombinedCounts& of) {
         const auto [low, high] = std::minmax_element(of.counts.begin(), of.counts.end());
         n_shared += *low > 0;
         ++n_all;
         sum_min += *low;
         sum_max += *high;
         return KeptCount();
       });) {
  }
  const auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  out.write(fmt::format("Jaccard  {:g}\nwJaccard {:g}\n", ratio(n_shared, n_all),
                        ratio(sum_min, sum_max)));
}

void run_merge(const MergeFlags& flags, const std::string& command_line) {
  check_files(flags.paths, flags.out_path);
  if (flags.jaccard) {
    kmer::Combiner combiner(flags.paths, {}, {});
    io::OutputFile out(flags.out_path);
    write_jaccard(combiner, out);
    out.commit();
    return;
  }
  combine_files(flags.paths, flags.out_path, command_line,
                [&](const CombinedCounts& of) -> KeptCount {
                  const std::uint64_t count =
                      flags.min   ? *std::min_element(of.counts.begin(), of.counts.end())
                      : flags.max ? *std::max_element(of.counts.begin(), of.counts.end())
                                  : sum_of(of.counts);
                  return flags.bounds.holds(count) ? KeptCount(count) : std::nullopt;
                });
}

}  // namespace

Run add_kmer_merge(CLI::App& command) {
  const auto flags = std::make_shared<MergeFlags>();
  command
      .add_option("DB", flags->paths,
                  "databases of one k, of any size and order; - is\nstandard input")
      ->required()
      ->option_text(" ");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the merged counts to this file [mer_counts_merged.jf]")
      ->option_text("FILE");
  CLI::Option* min = command.add_flag(
      "-m,--min", flags->min,
      "write the smallest count of each k-mer, 0 where absent, which -L 0 writes [sum]");
  CLI::Option* max = command.add_flag("-M,--max", flags->max,
                                      "write the largest count of each k-mer, not the sum");
  CLI::Option* jaccard = command.add_flag(
      "-j,--jaccard", flags->jaccard,
      "write the share of common k-mers, without and with multiplicity, instead of a database");
  min->option_text(" ")->excludes(max)->excludes(jaccard);
  max->option_text(" ")->excludes(jaccard);
  jaccard->option_text(" ");
  const CLI::Option* const lower = add_count_bounds(OptionGroup(command), flags->bounds);
  command.footer(std::string("The result is canonical where the databases are; databases that "
                             "differ in this or in k are refused.\n\n"
                             "Examples:\n"
                             "  biogpu kmer merge -o both.jf a.jf b.jf\n"
                             "  biogpu kmer merge --min -o common.jf a.jf b.jf\n\n") +
                 kExitCodes);
  return [flags, lower](const std::string& command_line) {
    // As Jellyfish: the smallest count is 0 for most k-mers, and those are written on demand.
    if (flags->min && lower->count() == 0) flags->bounds.lower = 1;
    run_merge(*flags, command_line);
  };
}

}  // namespace biogpu::app
