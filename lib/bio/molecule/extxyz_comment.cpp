#include "lib/bio/molecule/extxyz_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/bio/molecule/fields.hpp"
#include "lib/bio/split.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::size_t kMaxColumns = 10000;

// Takes a text in quotes off the front of line, whose first character is the quote.
std::optional<std::string> take_quoted(std::string_view& line) {
  std::string text;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == line[0]) {
      line.remove_prefix(i + 1);
      return text;
    }
    if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      text += line[i] == 'n' ? '\n' : line[i];
    } else {
      text += line[i];
    }
  }
  return std::nullopt;
}

// The same for an array in brackets, of which its elements are left with blanks between them.
std::optional<std::string> take_array(std::string_view& line) {
  std::string text, closing;
  std::string_view rest = line;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == '"') {
      std::optional<std::string> quoted = take_quoted(rest);
      if (!quoted) return std::nullopt;
      text += *quoted;
      continue;
    }
    rest.remove_prefix(1);
    if (c == '{' || c == '[') {
      closing += c == '{' ? '}' : ']';
      text += ' ';
    } else if (c == closing.back()) {
      closing.pop_back();
      text += ' ';
      if (!closing.empty()) continue;
      line = rest;
      return std::string(trimmed(text));
    } else {
      text += c == ',' ? ' ' : c;
    }
  }
  return std::nullopt;
}

// Reads the pairs of a line one after the other.
class CommentParser {
 public:
  explicit CommentParser(std::string_view line) : line_(line) {}

  Comment parse() {
    Comment comment;
    while (skip_blanks()) {
      CommentPair pair{take_text("= \t"), "T", false};
      skip_blanks();
      if (line_.starts_with('=')) {
        line_.remove_prefix(1);
        skip_blanks();
        pair.value = take_text(kBlanks);
        pair.has_value = true;
      }
      comment.pairs.push_back(std::move(pair));
    }
    comment.is_closed = is_closed_;
    return comment;
  }

 private:
  // False at the end of the line.
  bool skip_blanks() {
    line_.remove_prefix(std::min(line_.size(), line_.find_first_not_of(kBlanks)));
    return !line_.empty();
  }

  std::optional<std::string> take_delimited() {
    const char first = line_.empty() ? ' ' : line_.front();
    if (first == '"' || first == '\'') return take_quoted(line_);
    if (first == '{' || first == '[') return take_array(line_);
    return std::string();
  }

  // Up to one of ends that is in no quotes or brackets.
  std::string take_text(std::string_view ends) {
    std::optional<std::string> text = take_delimited();
    if (!text) {
      is_closed_ = false;
      text = std::string(1, line_.front());
      line_.remove_prefix(1);
    }
    while (!line_.empty() && ends.find(line_.front()) == ends.npos) {
      if (line_.front() == '\\' && line_.size() > 1) line_.remove_prefix(1);
      *text += line_.front();
      line_.remove_prefix(1);
    }
    return *text;
  }

  std::string_view line_;
  bool is_closed_ = true;
};

}  // namespace

Comment parse_comment(std::string_view line) { return CommentParser(line).parse(); }

void append_pair(std::string& line, std::string_view key, std::string_view value) {
  const auto append = [&](std::string_view text) {
    if (!text.empty() && text.find_first_of(" \t\n=\"'\\{}[],") == text.npos) {
      line += text;
      return;
    }
    line += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\' || c == '\n') line += '\\';
      line += c == '\n' ? 'n' : c;
    }
    line += '"';
  };
  if (!line.empty()) line += ' ';
  append(key);
  line += '=';
  append(value.empty() ? " " : value);  // ASE takes the next pair for a value of no length
}

std::optional<std::vector<PropertyColumns>> parse_properties(std::string_view text) {
  const std::vector<std::string_view> fields = split(text, ':');
  if (fields.size() % 3 != 0) return std::nullopt;
  std::vector<PropertyColumns> columns;
  std::size_t next = 0;
  for (std::size_t i = 0; i < fields.size(); i += 3) {
    const auto n = parse_number<std::size_t>(fields[i + 2]);
    if (!n || *n < 1 || *n > kMaxColumns || fields[i + 1].size() != 1 ||
        std::string_view("SRIL").find(fields[i + 1][0]) == std::string_view::npos)
      return std::nullopt;
    columns.push_back({std::string(fields[i]), fields[i + 1][0], next, *n});
    next += *n;
    if (next > kMaxColumns) return std::nullopt;
  }
  return columns;
}

std::optional<bool> parse_logical(std::string_view text) {
  constexpr std::array<std::string_view, 5> kTrue{"T", "true", "True", "TRUE", "1"};
  constexpr std::array<std::string_view, 5> kFalse{"F", "false", "False", "FALSE", "0"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  return std::nullopt;
}

std::optional<std::size_t> parse_periodic(std::string_view text) {
  const std::vector<std::string_view> fields = split_fields(text, kArrayBlanks);
  std::size_t n_periodic = 0;
  for (const std::string_view field : fields) {
    const auto is_true = parse_logical(field);
    if (!is_true) return std::nullopt;
    n_periodic += *is_true;
  }
  if (fields.size() == 1) return 3 * n_periodic;
  return fields.size() == 3 ? std::optional(n_periodic) : std::nullopt;
}

}  // namespace biogpu::molecule
