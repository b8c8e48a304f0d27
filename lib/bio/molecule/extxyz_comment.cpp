#include "lib/bio/molecule/extxyz_comment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/bio/molecule/fields.hpp"
#include "lib/bio/split.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::size_t kMaxColumns = 10000;

// Takes a quoted text off the front of line, whose first character is the quote.
std::optional<std::string> take_quoted(std::string_view& line) {
  std::string text;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '"') {
      line.remove_prefix(i + 1);
      return text;
    }
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    text += line[i];
  }
  return std::nullopt;
}

// The same for brackets, whose inner ones stay; commas between numbers become blanks.
std::optional<std::string> take_bracketed(std::string_view& line) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '{' || line[i] == '[') ++depth;
    if ((line[i] == '}' || line[i] == ']') && --depth == 0) {
      std::string text(line.substr(1, i - 1));
      for (char& c : text)
        if (c == ',' || c == '[' || c == ']') c = ' ';
      line.remove_prefix(i + 1);
      return text;
    }
  }
  return std::nullopt;
}

std::optional<std::string> take_text(std::string_view& line, std::string_view ends) {
  if (line.starts_with('"')) return take_quoted(line);
  if (line.starts_with('{') || line.starts_with('[')) return take_bracketed(line);
  const std::size_t end = std::min(line.size(), line.find_first_of(ends));
  std::string text(line.substr(0, end));
  line.remove_prefix(end);
  return text;
}

}  // namespace

std::optional<CommentPairs> parse_comment(std::string_view line) {
  CommentPairs pairs;
  while (true) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBlanks)));
    if (line.empty()) return pairs;
    std::optional<std::string> key = take_text(line, "= \t");
    if (!key) return std::nullopt;
    if (!line.starts_with('=')) {
      pairs.emplace_back(std::move(*key), "T");
      continue;
    }
    line.remove_prefix(1);
    std::optional<std::string> value = take_text(line, kBlanks);
    if (!value) return std::nullopt;
    pairs.emplace_back(std::move(*key), std::move(*value));
  }
}

void append_pair(std::string& line, std::string_view key, std::string_view value) {
  const auto append = [&](std::string_view text) {
    if (!text.empty() && text.find_first_of(" \t=\"\\{}[],") == text.npos) {
      line += text;
      return;
    }
    line += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') line += '\\';
      line += c;
    }
    line += '"';
  };
  if (!line.empty()) line += ' ';
  append(key);
  line += '=';
  append(value);
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

}  // namespace biogpu::molecule
