#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace biogpu::molecule {

inline constexpr std::string_view kBlanks = " \t";
// Between the elements of an array in the comment of an extxyz frame.
inline constexpr std::string_view kArrayBlanks = " \t,";

inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Fields between runs of blanks.
inline std::vector<std::string_view> split_fields(std::string_view text,
                                                  std::string_view blanks = kBlanks) {
  std::vector<std::string_view> fields;
  while (true) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(blanks)));
    if (text.empty()) return fields;
    const std::size_t end = std::min(text.size(), text.find_first_of(blanks));
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// The whole text as a number, with a plus perhaps. Not given: it is none, or is not finite.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// The same of a real number, whose exponent may be written in the way of Fortran, 1.5D-3, or of
// QM9, 1.5*^-3.
inline std::optional<double> parse_real(std::string_view text) {
  const std::size_t at = text.find_first_of("dD*");
  if (at == text.npos) return parse_number<double>(text);
  const std::size_t n = text[at] == '*' ? 2 : 1;
  if (n == 2 && text.substr(at, n) != "*^") return std::nullopt;
  std::string plain(text.substr(0, at));
  plain += 'e';
  plain += text.substr(at + n);
  return parse_number<double>(plain);
}

}  // namespace biogpu::molecule
