#include "lib/tasks/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <optional>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/table_fields.hpp"

namespace biogpu::tasks {
namespace {

constexpr std::string_view kUsual = "ACDEFGHIKLMNPQRSTVWY";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<std::size_t> column(const std::vector<std::string>& header,
                                  std::initializer_list<const char*> names) {
  for (const char* name : names)
    for (std::size_t i = 0; i < header.size(); ++i)
      if (lower(header[i]) == name) return i;
  return std::nullopt;
}

bool is_wild_type(std::string_view text) {
  const std::string word = lower(text);
  return word == "wt" || word == "_wt" || word == "wild_type";
}

// "A12C"
struct ParsedSubstitution {
  char from = 0;
  std::int64_t number = 0;
  char to = 0;
};

std::optional<ParsedSubstitution> parse_substitution(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  ParsedSubstitution parsed{text.front(), 0, text.back()};
  const char* const end = text.data() + text.size() - 1;
  const auto [digits, error] = std::from_chars(text.data() + 1, end, parsed.number);
  if (error != std::errc{} || digits != end) return std::nullopt;
  return parsed;
}

std::vector<std::string_view> split_variant(std::string_view text) {
  return split(text, text.find(';') != std::string_view::npos ? ';' : ':');
}

bool looks_like_variant(std::string_view text) {
  const std::vector<std::string_view> parts = split_variant(text);
  return is_wild_type(text) || std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
           return parse_substitution(part).has_value();
         });
}

// Where in a line the fields are that are read.
struct VariantColumns {
  char separator = '\t';
  std::size_t n = 0;
  std::size_t mutant = 0;
  std::optional<std::size_t> name;
  bool has_header = false;
};

// The columns that the first line names; nothing where this separator gives none.
std::optional<VariantColumns> find_named_columns(std::string_view line, char separator) {
  std::vector<std::string> names;
  try {
    names = io::split_table_line(line, separator, "");
  } catch (const Error&) {
    return std::nullopt;  // quotes of another separator
  }
  const auto mutant =
      column(names, {"mutant", "mutation", "variant", "mutations", "variants", "protein_variant"});
  if (!mutant) return std::nullopt;
  const auto name = column(names, {"name", "id", "protein", "target", "uniprot_id"});
  return VariantColumns{separator, names.size(), *mutant, name, true};
}

// The columns of the first line. R separates by tabs, commas, semicolons or blanks; without names
// of columns only tabs and commas separate, as a variant may have semicolons.
VariantColumns find_columns(std::string_view line, LazyText place) {
  for (const char separator : {'\t', ',', ';', ' '})
    if (auto named = find_named_columns(line, separator)) return *named;
  VariantColumns columns;
  const bool has_tab = line.find('\t') != std::string_view::npos;
  if (!has_tab && line.find(',') != std::string_view::npos) columns.separator = ',';
  const std::vector<std::string> fields = io::split_table_line(line, columns.separator, place);
  columns.n = fields.size();
  columns.mutant = columns.n - 1;
  if (columns.n > 1) columns.name = 0;
  if (!looks_like_variant(fields.back()))
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: no column is called mutant, mutation or variant, and {} is no "
                            "variant; expected a residue, its number and another residue, as A12C",
                            place.str(), biogpu::quoted(fields.back())));
  return columns;
}

// R's write.table() gives the column of row names no name.
bool skips_row_names(VariantColumns& columns, std::size_t n_fields) {
  if (!columns.has_header || n_fields != columns.n + 1) return false;
  ++columns.n;
  ++columns.mutant;
  if (columns.name) ++*columns.name;
  return true;
}

}  // namespace

VariantTable read_variants(const std::string& path) {
  io::LineReader lines(path, "a table of variants");
  VariantTable table;
  std::optional<VariantColumns> columns;
  bool is_first_row = true;
  for (std::string line; lines.next(line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto place = [&] { return fmt::format("{}: line {}", path, lines.number()); };
    if (!columns) {
      columns = find_columns(line, place);
      if (columns->has_header) continue;
    }
    const std::vector<std::string> fields = io::split_table_line(line, columns->separator, place);
    const std::size_t n = columns->n;
    const bool fits =
        fields.size() == n || (is_first_row && skips_row_names(*columns, fields.size()));
    if (!fits)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: {} columns; the first line has {}", place(), fields.size(), n));
    is_first_row = false;
    const auto require = [&](std::size_t field, const char* what) -> const std::string& {
      if (fields[field].empty())
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: column {} ({}) is empty", place(), field + 1, what));
      return fields[field];
    };
    Variant variant;
    variant.text = require(columns->mutant, "the variant; that of the wild type is WT");
    variant.line = lines.number();
    table[columns->name ? require(*columns->name, "the name of the sequence") : std::string()]
        .push_back(std::move(variant));
  }
  if (table.empty()) throw Error(ErrorCode::bad_input, path + ": has no variant");
  return table;
}

void resolve_variant(Variant& variant, const models::Vocabulary& vocabulary, const Tokens& sequence,
                     std::int64_t first, LazyText label) {
  variant.substitutions.clear();
  if (is_wild_type(variant.text)) return;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: variant {}: {}", label.str(), biogpu::quoted(variant.text), what));
  };
  const auto n_residues = static_cast<std::int64_t>(sequence.size()) - 2;
  for (const std::string_view part : split_variant(variant.text)) {
    const auto parsed = parse_substitution(part);
    if (!parsed) fail("expected a residue, its number and another residue, as A12C, joined by ':'");
    const std::int64_t number = parsed->number;
    // Unsigned, as the difference of any two numbers may not fit.
    const auto offset = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(first);
    if (number < first || offset >= static_cast<std::uint64_t>(n_residues))
      fail(fmt::format("residue {} of a sequence with {} to {}", number, first,
                       static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                                 static_cast<std::uint64_t>(n_residues) - 1)));
    const auto position = static_cast<std::int64_t>(offset) + 1;
    if (std::any_of(variant.substitutions.begin(), variant.substitutions.end(),
                    [&](const Substitution& other) { return other.position == position; }))
      fail(fmt::format("replaces residue {} twice", number));
    Substitution s;
    s.position = static_cast<std::int32_t>(position);
    s.from = vocabulary.of_letter[static_cast<unsigned char>(parsed->from)];
    s.to = vocabulary.of_letter[static_cast<unsigned char>(parsed->to)];
    if (s.from < 0 || s.to < 0) fail("the model's alphabet has not both residues");
    const std::int32_t there = sequence[static_cast<std::size_t>(position)];
    if (there != s.from)
      fail(fmt::format("the sequence has {} at {}; --first-residue tells the number of its first",
                       vocabulary.tokens[static_cast<std::size_t>(there)], number));
    variant.substitutions.push_back(s);
  }
}

std::vector<std::int32_t> single_positions(const models::Vocabulary& vocabulary,
                                           const Tokens& sequence) {
  std::vector<std::int32_t> positions;
  for (std::size_t t = 1; t + 1 < sequence.size(); ++t)
    if (vocabulary.tokens[static_cast<std::size_t>(sequence[t])].size() == 1)
      positions.push_back(static_cast<std::int32_t>(t));
  return positions;
}

std::vector<Variant> single_variants(const models::Vocabulary& vocabulary, const Tokens& sequence,
                                     std::int64_t first) {
  std::vector<Variant> variants;
  for (const std::int32_t position : single_positions(vocabulary, sequence)) {
    const std::int32_t from = sequence[static_cast<std::size_t>(position)];
    const std::string& word = vocabulary.tokens[static_cast<std::size_t>(from)];
    for (const char letter : kUsual) {
      const std::int32_t to = vocabulary.of_letter[static_cast<unsigned char>(letter)];
      if (to == from) continue;
      Variant variant;
      variant.text = fmt::format("{}{}{}", word, position - 1 + first, letter);
      variant.substitutions = {{position, from, to}};
      variants.push_back(std::move(variant));
    }
  }
  return variants;
}

}  // namespace biogpu::tasks
