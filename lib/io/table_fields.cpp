#include "lib/io/table_fields.hpp"

#include <fmt/format.h>

#include "lib/core/error.hpp"

namespace biogpu::io {
namespace {

constexpr std::string_view kBlanks = " \t";

// Takes the blanks off the front that are no separator.
void skip_blanks(std::string_view& text, char separator) {
  const auto is_blank = [&](char c) {
    return kBlanks.find(c) != std::string_view::npos && (c != separator || separator == ' ');
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

// Takes a field that begins with a quote off the front.
std::string take_quoted(std::string_view& text, LazyText place) {
  std::string field;
  text.remove_prefix(1);
  for (;;) {
    const std::size_t quote = text.find('"');
    if (quote == std::string_view::npos)
      throw Error(ErrorCode::bad_input, place.str() + ": a quote is not closed");
    field += text.substr(0, quote);
    text.remove_prefix(quote + 1);
    if (!text.starts_with('"')) return field;
    field += '"';
    text.remove_prefix(1);
  }
}

std::string take_plain(std::string_view& text, char separator) {
  const std::string_view field = text.substr(0, text.find(separator));
  text.remove_prefix(field.size());
  const std::size_t last = field.find_last_not_of(kBlanks);
  return std::string(field.substr(0, last + 1));
}

}  // namespace

std::vector<std::string> split_table_line(std::string_view line, char separator, LazyText place) {
  std::vector<std::string> fields;
  for (;;) {
    skip_blanks(line, separator);
    if (separator == ' ' && line.empty()) return fields;
    fields.push_back(line.starts_with('"') ? take_quoted(line, place)
                                           : take_plain(line, separator));
    if (separator != ' ') skip_blanks(line, separator);
    if (line.empty()) return fields;
    if (line.front() != separator)
      throw Error(ErrorCode::bad_input, place.str() + ": text follows a closed quote");
    line.remove_prefix(1);
  }
}

std::string as_field(std::string_view text) {
  std::string field;
  field.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\t')
      field += "\\t";
    else if (c == '\n')
      field += "\\n";
    else if (c == '\r')
      field += "\\r";
    else if (byte < ' ' || byte == 0x7f)
      field += fmt::format("\\x{:02x}", byte);
    else
      field += c;
  }
  return field;
}

}  // namespace biogpu::io
