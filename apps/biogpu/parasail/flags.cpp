#include "apps/biogpu/parasail/flags.hpp"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/parasail/options.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

[[noreturn]] void wrong_usage(const std::string& text) {
  throw Error(ErrorCode::usage, text + "; see 'biogpu align parasail -h'");
}

constexpr std::string_view kParasailModes[] = {
    "nw",    "sw",    "sg",       "sg_qb",    "sg_qe",    "sg_qx",   "sg_db",
    "sg_de", "sg_dx", "sg_qb_de", "sg_qe_db", "sg_qb_db", "sg_qe_de"};

// Takes "_word" off the front of a name where it stands there.
bool take(std::string_view& name, std::string_view word) {
  if (!name.starts_with('_') || !name.substr(1).starts_with(word)) return false;
  const std::string_view rest = name.substr(1 + word.size());
  if (!rest.empty() && rest[0] != '_') return false;
  name = rest;
  return true;
}

template <std::size_t kN>
bool take_one_of(std::string_view& name, const std::array<std::string_view, kN>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return take(name, word); });
}

constexpr std::array<std::string_view, 2> kLayouts = {"striped", "diag"};
constexpr std::array<std::string_view, 5> kTargets = {"sse2_128", "sse41_128", "avx2_256",
                                                      "altivec_128", "neon_128"};
constexpr std::array<std::string_view, 5> kWidths = {"8", "16", "32", "64", "sat"};

std::string_view take_mode(std::string_view& name) {
  std::string_view longest;
  for (const std::string_view mode : kParasailModes) {
    const bool whole =
        name.starts_with(mode) && (name.size() == mode.size() || name[mode.size()] == '_');
    if (whole && mode.size() > longest.size()) longest = mode;
  }
  name.remove_prefix(longest.size());
  return longest;
}

int number(char option, const char* text, int least, int most) {
  const std::string_view word(text);
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most)
    wrong_usage(
        fmt::format("-{} {}; expected a whole number from {} to {}", option, word, least, most));
  return value;
}

ParasailFormat parse_format(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("SAMH")) return ParasailFormat::sam_with_header;
  if (has("SAM")) return ParasailFormat::sam;
  if (has("EMBOSS")) return ParasailFormat::emboss;
  if (has("SSW")) return ParasailFormat::ssw;
  wrong_usage(fmt::format("-O {}; expected EMBOSS, SAM, SAMH or SSW", name));
}

constexpr int kMax = std::numeric_limits<int>::max();
constexpr int kMaxScore = 127;

void set_option(ParasailFlags& flags, char option, const char* value) {
  const auto at_least = [&](int least) { return number(option, value, least, kMax); };
  const auto percent = [&] { return number(option, value, 0, 100); };
  switch (option) {
    case 'a':
      flags.function = parse_parasail_function(value);
      break;
    case 'A':
      flags.aliases = value;
      break;
    case 'b':
      flags.batch = static_cast<std::uint64_t>(at_least(0));
      break;
    case 'c':
      flags.cutoff = at_least(1);
      break;
    case 'C':
      flags.case_sensitive = true;
      break;
    case 'd':
      flags.dna = true;
      break;
    case 'e':
      flags.gap_extend = at_least(0);
      break;
    case 'E':
      flags.edges = true;
      break;
    case 'f':
      flags.database_path = value;
      break;
    case 'g':
      flags.out_path = value;
      break;
    case 'G':
      flags.graph = true;
      break;
    case 'h':
      flags.help = true;
      break;
    case 'i':
      flags.min_score = percent();
      break;
    case 'k':
      flags.band = at_least(1);
      break;
    case 'l':
      flags.min_length = percent();
      break;
    case 'm':
      flags.matrix = value;
      break;
    case 'M':
      flags.match = number(option, value, 0, kMaxScore);
      break;
    case 'o':
      flags.gap_open = at_least(0);
      break;
    case 'O':
      flags.format = parse_format(value);
      break;
    case 'p':
      flags.pairs_only = true;
      break;
    case 'q':
      flags.query_path = value;
      break;
    case 'r':
      break;  // Memory is bounded without it.
    case 's':
      flags.min_identity = percent();
      break;
    case 't':
      flags.threads = number(option, value, 1, 1024);
      break;
    case 'v':
    case 'V':
      flags.verbose = true;
      break;
    case 'x':
      flags.filter = false;
      break;
    case 'X':
      flags.mismatch = number(option, value, 0, kMaxScore);
      break;
    default:
      break;
  }
}

// The checks of parasail_aligner, in its words where it has some.
void check(const ParasailFlags& flags) {
  const bool formatted = flags.format != ParasailFormat::csv;
  if (flags.database_path.empty()) wrong_usage("missing input file (-f)");
  if (flags.edges && flags.graph) wrong_usage("can only request one of edge or graph output");
  if ((flags.edges || flags.graph) && !flags.function.statistics)
    wrong_usage(
        "edge or graph output requested, but alignment function does not return statistics");
  if (flags.graph && !flags.query_path.empty())
    wrong_usage("cannot specify a query file and output as a graph");
  if (formatted && !flags.function.trace)
    wrong_usage(
        "the selected output format requires an alignment function that returns a traceback");
  if (!formatted && flags.function.trace) wrong_usage("please select trace output format (-O)");
}

}  // namespace

ParasailFunction parse_parasail_function(const std::string& name) {
  std::string_view rest = name;
  if (rest.starts_with("parasail_")) rest.remove_prefix(9);
  ParasailFunction function;
  if (rest == "nw_banded") {
    function.mode = *find_mode("nw");
    function.banded = true;
    return function;
  }
  const std::string_view mode = take_mode(rest);
  bool known = !mode.empty();
  if (known) function.mode = *find_mode(mode);
  function.statistics = take(rest, "stats");
  function.table = take(rest, "table");
  if (!function.table && !take(rest, "rowcol")) function.trace = take(rest, "trace");
  const bool scan = take(rest, "scan");
  if (scan ? !rest.empty() : take_one_of(rest, kLayouts)) {
    take(rest, "profile");
    take_one_of(rest, kTargets);
    known &= take_one_of(rest, kWidths);
  }
  known &= rest.empty();
  if (!known) wrong_usage(fmt::format("-a {}: specified function not found", name));
  return function;
}

ParasailFlags parse_parasail_flags(const std::vector<std::string>& arguments) {
  ParasailFlags flags;
  flags.function = parse_parasail_function("sw_stats_striped_16");
  std::vector<std::string> copies{"parasail"};
  copies.insert(copies.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  words.reserve(copies.size() + 1);
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  flags.help = std::find(copies.begin(), copies.end(), "--help") != copies.end();
  if (flags.help) return flags;
  opterr = 0;
  optind = 1;
  const std::string options = parasail_getopt_text();
  const int n_words = static_cast<int>(copies.size());
  for (int option; (option = getopt(n_words, words.data(), options.c_str())) != -1;) {
    if (option == ':') wrong_usage(fmt::format("option -{} requires an argument", char(optopt)));
    if (option == '?') wrong_usage(fmt::format("unknown option -{}", char(optopt)));
    if (optarg != nullptr && *optarg == '\0')
      wrong_usage(fmt::format("-{}: {}", char(option), describe_empty_value()));
    set_option(flags, static_cast<char>(option), optarg);
  }
  if (flags.help) return flags;
  // Other words are ignored, as by parasail_aligner; an empty one is an option's that is missing.
  if (std::any_of(words.begin() + optind, words.end() - 1,
                  [](const char* w) { return *w == '\0'; }))
    wrong_usage("one argument too many: ''");
  check(flags);
  if (flags.out_path.empty()) flags.out_path = flags.function.trace ? "-" : "parasail.csv";
  for (std::string* path : {&flags.database_path, &flags.query_path})
    if (*path == "stdin") *path = "-";
  return flags;
}

}  // namespace biogpu::app
