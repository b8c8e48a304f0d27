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

namespace biogpu::tasks {
namespace {

constexpr std::string_view kUsual = "ACDEFGHIKLMNPQRSTVWY";

// The fields of a line; with commas they may stand in quotes, in which two are one (RFC 4180).
// place: of the line, for an error.
std::vector<std::string> fields_of(std::string_view line, char separator,
                                   const std::string& place) {
  if (separator != ',' || line.find('"') == std::string_view::npos) {
    const auto fields = split(line, separator);
    return {fields.begin(), fields.end()};
  }
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  if (quoted) throw Error(ErrorCode::bad_input, place + ": a quote is not closed");
  return fields;
}

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
  return word.empty() || word == "wt" || word == "_wt" || word == "wild_type";
}

}  // namespace

VariantTable read_variants(const std::string& path) {
  io::LineReader lines(path, "a table of variants");
  VariantTable table;
  std::string line;
  std::optional<std::size_t> mutant, name;
  std::size_t n_columns = 0;
  char separator = '\t';
  while (lines.next(line)) {
    const std::uint64_t number = lines.number();
    if (line.empty() || line.front() == '#') continue;
    const bool first = n_columns == 0;
    if (first && line.find('\t') == std::string::npos && line.find(',') != std::string::npos)
      separator = ',';
    const std::vector<std::string> fields =
        fields_of(line, separator, fmt::format("{}: line {}", path, number));
    if (first) {
      n_columns = fields.size();
      mutant = column(fields, {"mutant", "mutation", "variant", "mutations", "variants"});
      name = column(fields, {"name", "id", "protein", "target"});
      const bool header = mutant.has_value();
      if (!header) {
        mutant = n_columns - 1;
        name = n_columns > 1 ? std::optional<std::size_t>(0) : std::nullopt;
      }
      if (header) continue;
    }
    if (fields.size() != n_columns)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: line {}: {} columns; the first line has {}", path, number,
                              fields.size(), n_columns));
    Variant variant;
    variant.text = fields[*mutant];
    variant.line = number;
    table[name ? fields[*name] : std::string()].push_back(std::move(variant));
  }
  if (table.empty()) throw Error(ErrorCode::bad_input, path + ": has no variant");
  return table;
}

void resolve_variant(Variant& variant, const models::Vocabulary& vocabulary, const Tokens& sequence,
                     std::int64_t first, const std::string& label) {
  variant.substitutions.clear();
  if (is_wild_type(variant.text)) return;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: variant {}: {}", label, biogpu::quoted(variant.text), what));
  };
  const auto n_residues = static_cast<std::int64_t>(sequence.size()) - 2;
  const char separator = variant.text.find(';') != std::string::npos ? ';' : ':';
  for (const std::string_view part : split(variant.text, separator)) {
    std::int64_t number = 0;
    const char* const end = part.data() + part.size();
    const bool is_long = part.size() >= 3;
    const auto digits = is_long ? std::from_chars(part.data() + 1, end, number)
                                : std::from_chars_result{end, std::errc::invalid_argument};
    if (digits.ec != std::errc{} || digits.ptr + 1 != end)
      fail("expected a residue, its number and another residue, as A12C, joined by ':'");
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
    s.from = vocabulary.of_letter[static_cast<unsigned char>(part.front())];
    s.to = vocabulary.of_letter[static_cast<unsigned char>(part.back())];
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
