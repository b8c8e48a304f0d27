#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/combine.hpp"
#include "lib/kmer/database/writer.hpp"

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

using Counts = kmer::Combiner::Counts;
using Kept = std::optional<std::uint64_t>;

std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts)
    if (__builtin_add_overflow(sum, count, &sum)) return UINT64_MAX;
  return sum;
}

// Shared k-mers over all k-mers, without and with multiplicity.
void write_jaccard(kmer::Combiner& combiner, io::OutputFile& out) {
  std::uint64_t n_shared = 0;
  std::uint64_t n_all = 0;
  std::uint64_t sum_min = 0;
  std::uint64_t sum_max = 0;
  for (kmer::CountBlock block; combiner.read(block, [&](const Counts& of) {
         const auto [low, high] = std::minmax_element(of.counts.begin(), of.counts.end());
         n_shared += *low > 0;
         ++n_all;
         sum_min += *low;
         sum_max += *high;
         return Kept();
       });) {
  }
  const auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  out.write(fmt::format("Jaccard  {:g}\nwJaccard {:g}\n", ratio(n_shared, n_all),
                        ratio(sum_min, sum_max)));
}

void combine_files(const std::vector<std::string>& paths, const std::string& out_path,
                   const std::string& command_line, const kmer::Combiner::Combine& combine) {
  require_plain_name(out_path);
  const kmer::Format named = kmer::format_of_name(out_path);
  // Jellyfish's files keep the order of the first where it is one of theirs; the other formats have
  // one of their own.
  const auto choose_order = [named](const kmer::Header& first) {
    const bool keeps = named == kmer::Format::jellyfish && first.order.is_bijective() &&
                       first.order.size_bits() > 0;
    return keeps ? first.order : kmer::order_of_format(named, first.k, 0);
  };
  kmer::Combiner combiner(paths, choose_order, {});
  kmer::Header header = combiner.header();
  // Text gives text, as with Jellyfish.
  const bool text = named == kmer::Format::jellyfish && combiner.all_text();
  header.format = text ? kmer::Format::jellyfish_text : named;
  kmer::add_provenance(header, words_of(command_line), false);
  kmer::DatabaseWriter out(out_path, header);
  for (kmer::CountBlock block; combiner.read(block, combine);) out.write(block);
  out.commit();
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
  combine_files(flags.paths, flags.out_path, command_line, [&](const Counts& of) -> Kept {
    const std::uint64_t count = flags.min   ? *std::min_element(of.counts.begin(), of.counts.end())
                                : flags.max ? *std::max_element(of.counts.begin(), of.counts.end())
                                            : sum_of(of.counts);
    return flags.bounds.holds(count) ? Kept(count) : std::nullopt;
  });
}

// What is kept of the k-mers of several databases, and with which count.
struct SetFlags {
  std::string operation;
  std::vector<std::string> paths;
  std::string out_path;
  std::string count;  // empty: the operation's own
  CountBounds bounds;
};

// A database has a k-mer also where its count is 0.
bool keeps(const std::string& operation, const Counts& of) {
  const auto n_with = std::count(of.present.begin(), of.present.end(), true);
  if (operation == "intersect") return n_with == std::ssize(of.present);
  if (operation == "subtract") return of.present[0] && n_with == 1;
  if (operation == "symdiff") return n_with == 1;
  return true;  // union, filter, and the difference of counts
}

Kept count_of(const SetFlags& flags, const Counts& of) {
  if (flags.operation == "counters_subtract") {
    const std::uint64_t others = sum_of(of.counts.subspan(1));
    const std::uint64_t own = of.counts[0];
    // Nothing is left of a count that others use up.
    if (!of.present[0] || (own <= others && others > 0)) return std::nullopt;
    return own - others;
  }
  const std::string& which = flags.count;
  const std::size_t last = of.counts.size() - 1;
  if (which == "left") return of.present[0] ? Kept(of.counts[0]) : std::nullopt;
  if (which == "right") return of.present[last] ? Kept(of.counts[last]) : std::nullopt;
  if (which == "max") return *std::max_element(of.counts.begin(), of.counts.end());
  if (which == "min" || (which.empty() && flags.operation == "intersect")) {
    std::uint64_t least = UINT64_MAX;  // of those that have the k-mer
    for (std::size_t i = 0; i <= last; ++i)
      if (of.present[i]) least = std::min(least, of.counts[i]);
    return least;
  }
  return sum_of(of.counts);
}

void run_set(const SetFlags& flags, const std::string& command_line) {
  if (flags.operation == "filter" && flags.paths.size() != 1)
    throw Error(ErrorCode::usage, "filter takes one database");
  if (flags.operation != "filter" && flags.paths.size() < 2)
    throw Error(ErrorCode::usage, flags.operation + " takes two databases or more");
  check_files(flags.paths, flags.out_path);
  combine_files(flags.paths, flags.out_path, command_line, [&](const Counts& of) -> Kept {
    if (!keeps(flags.operation, of)) return std::nullopt;
    const Kept count = count_of(flags, of);
    return count && flags.bounds.holds(*count) ? count : std::nullopt;
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
  command.add_option("-o,--output", flags->out_path, "[mer_counts_merged.jf]")->option_text("FILE");
  CLI::Option* min = command.add_flag(
      "-m,--min", flags->min, "the smallest count, 0 where absent, which -L 0 writes [sum]");
  CLI::Option* max = command.add_flag("-M,--max", flags->max, "the largest count [sum]");
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

Run add_kmer_set(CLI::App& command) {
  const auto flags = std::make_shared<SetFlags>();
  const std::vector<std::string> operations{"union",   "intersect",         "subtract",
                                            "symdiff", "counters_subtract", "filter"};
  command.add_option("OPERATION", flags->operation, "what to keep, see below")
      ->required()
      ->transform(one_of(operations))
      ->option_text(" ");
  command.add_option("DB", flags->paths, "databases of one k, of any format; - is standard input")
      ->required()
      ->option_text(" ");
  command
      .add_option("-o,--output", flags->out_path,
                  "the database: .bgk biogpu's own, .kff KFF, else Jellyfish's")
      ->required()
      ->option_text("FILE");
  command
      .add_option("--count", flags->count,
                  "min, max, sum, left, right: the count of what is kept\n"
                  "[intersect min, else sum]")
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
