// `biogpu kmer set`: union, intersection, difference and filter of databases.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/combine.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

// What is kept of the k-mers of several databases, and with which count.
struct SetFlags {
  std::string operation;
  std::vector<std::string> paths;
  std::string out_path;
  std::string count;  // empty: the operation's own
  CountBounds bounds;
};

// A database has a k-mer also where its count is 0.
bool keeps(const std::string& operation, const CombinedCounts& of) {
  const auto n_with = std::count(of.present.begin(), of.present.end(), true);
  if (operation == "intersect") return n_with == std::ssize(of.present);
  if (operation == "subtract") return of.present[0] && n_with == 1;
  if (operation == "symdiff") return n_with == 1;
  return true;  // union, filter, and the difference of counts
}

KeptCount count_of(const SetFlags& flags, const CombinedCounts& of) {
  if (flags.operation == "counters_subtract") {
    const std::uint64_t others = sum_of(of.counts.subspan(1));
    const std::uint64_t own = of.counts[0];
    // Nothing is left of a count that others use up.
    if (!of.present[0] || (own <= others && others > 0)) return std::nullopt;
    return own - others;
  }
  const std::string& which = flags.count;
  const std::size_t last = of.counts.size() - 1;
  if (which == "left") return of.present[0] ? KeptCount(of.counts[0]) : std::nullopt;
  if (which == "right") return of.present[last] ? KeptCount(of.counts[last]) : std::nullopt;
  if (which == "max") return *std::max_element(of.counts.begin(), of.counts.end());
  if (which == "min" || (which.empty() && flags.operation == "intersect")) {
    std::uint64_t smallest = UINT64_MAX;  // of those that have the k-mer
    for (std::size_t i = 0; i <= last; ++i)
      if (of.present[i]) smallest = std::min(smallest, of.counts[i]);
    return smallest;
  }
  return sum_of(of.counts);
}

void run_set(const SetFlags& flags, const std::string& command_line) {
  if (flags.operation == "filter" && flags.paths.size() != 1)
    throw Error(ErrorCode::usage, "filter takes one database");
  if (flags.operation != "filter" && flags.paths.size() < 2)
    throw Error(ErrorCode::usage, flags.operation + " takes two databases or more");
  check_files(flags.paths, flags.out_path);
  combine_files(flags.paths, flags.out_path, command_line,
                [&](const CombinedCounts& of) -> KeptCount {
                  if (!keeps(flags.operation, of)) return std::nullopt;
                  const KeptCount count = count_of(flags, of);
                  return count && flags.bounds.holds(*count) ? count : std::nullopt;
                });
}

}  // namespace

Run add_kmer_set(CLI::App& command) {
  const auto flags = std::make_shared<SetFlags>();
  const std::vector<std::string> operations{"union",   "intersect",         "subtract",
                                            "symdiff", "counters_subtract", "filter"};
  command.add_option("OPERATION", flags->operation, "operation that chooses the k-mers, see below")
      ->required()
      ->transform(one_of(operations))
      ->option_text(" ");
  command.add_option("DB", flags->paths, "databases of one k, of any format; - is standard input")
      ->required()
      ->option_text(" ");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the database to this file: .bgk biogpu's own, .kff KFF, else Jellyfish's")
      ->required()
      ->option_text("FILE");
  command
      .add_option(
          "--count", flags->count,
          "give a k-mer the min, max, sum, left or right of its counts [intersect min, else sum]")
      ->transform(one_of(std::vector<std::string>{"min", "max", "sum", "left", "right"}))
      ->option_text("WHICH");
  add_count_bounds(OptionGroup(command), flags->bounds);
  command.footer(
      std::string("union: k-mers of any database. intersect: of all. subtract: of the first and no "
                  "other.\nsymdiff: of exactly one. counters_subtract: counts of the first less "
                  "those of the others.\nfilter: of one database, by -L and -U.\n\n"
                  "Examples:\n"
                  "  biogpu kmer set subtract tumour.jf normal.jf -L 5 -o only_tumour.bgk\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_set(*flags, command_line); };
}

}  // namespace biogpu::app
