#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/biogpu/kmer_commands.hpp"

namespace biogpu::app {
namespace {

struct KmerCommand {
  const char* name;
  const char* group;
  const char* description;
  Run (*add)(CLI::App& command);
};

constexpr KmerCommand kKmerCommands[] = {
    {"count", "Count", "count the k-mers of sequence files", add_kmer_count},
    {"bc", "Count", "a Bloom counter for 'count --bc'", add_kmer_bc},
    {"histo", "Read a database", "how many k-mers have each count", add_kmer_histo},
    {"dump", "Read a database", "the k-mers and their counts as text", add_kmer_dump},
    {"stats", "Read a database", "unique, distinct and total k-mers", add_kmer_stats},
    {"query", "Read a database", "the counts of given k-mers or sequences", add_kmer_query},
    {"info", "Read a database", "how a database was made", add_kmer_info},
    {"merge", "Combine databases", "sums, minima or maxima of counts", add_kmer_merge},
    {"set", "Combine databases", "union, intersection, difference, filter", add_kmer_set},
    {"sketch", "Compare sequences", "the smallest k-mer hashes of each file", add_kmer_sketch},
    {"dist", "Compare sequences", "distances between sketches, as Mash reports", add_kmer_dist},
};

constexpr char kFooter[] =
    "Options and texts are Jellyfish's; 'biogpu kmer count --help' says what is added.\n\n"
    "Examples:\n"
    "  biogpu kmer count -m 21 -C -t 2 -o out.jf reads_1.fq reads_2.fq.gz\n"
    "  biogpu kmer histo out.jf\n\n";

}  // namespace

void add_count_bounds(CLI::App& command, CountBounds& bounds) {
  command.add_option("-L,--lower-count", bounds.lower, "leave out k-mers with a lower count")
      ->option_text("N");
  command.add_option("-U,--upper-count", bounds.upper, "leave out k-mers with a higher count")
      ->option_text("N");
}

std::vector<std::string> words_after_kmer(const std::string& command_line) {
  std::istringstream text(command_line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  words.erase(words.begin(), words.begin() + std::min<std::ptrdiff_t>(2, std::ssize(words)));
  return words;
}

CLI::Validator decimal_size() {
  const auto convert = [](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    constexpr std::string_view kSuffixes = "kMGTPE";
    std::size_t power = 0;
    bool bad = error != std::errc{} || end - rest > 1;
    if (!bad && rest != end) {
      power = kSuffixes.find(*rest) + 1;
      bad = power == 0;
    }
    for (std::size_t i = 0; i < power && !bad; ++i)
      bad = __builtin_mul_overflow(value, 1000, &value);
    if (bad) return "'" + text + "'; expected a number with k, M, G, T, P, E or nothing after it";
    text = std::to_string(value);
    return {};
  };
  return {convert, ""};
}

Run add_kmer(CLI::App& command) {
  command.require_subcommand(1);
  command.footer(std::string(kFooter) + kExitCodes);
  const auto runs = std::make_shared<std::vector<std::pair<CLI::App*, Run>>>();
  for (const KmerCommand& entry : kKmerCommands) {
    CLI::App* sub = command.add_subcommand(entry.name, entry.description)->group(entry.group);
    runs->emplace_back(sub, entry.add(*sub));
  }
  return [runs](const std::string& command_line) {
    for (const auto& [sub, run] : *runs)
      if (sub->parsed()) run(command_line);
  };
}

}  // namespace biogpu::app
