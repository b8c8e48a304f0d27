#include "apps/biogpu/command_line/value_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

constexpr std::uint64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();

// A plus says nothing, unless another sign follows, which is none.
std::string_view without_plus(std::string_view text) {
  const bool is_plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return is_plus ? text.substr(1) : text;
}

// The number in decimal digits; nothing where the text is none or lies outside.
std::optional<std::string> read_whole(std::string_view text, std::int64_t least,
                                      std::uint64_t most) {
  text = without_plus(text);
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return {};
  if (is_negative && value > 0) {
    if (value > kMaxSigned || -static_cast<std::int64_t>(value) < least) return {};
    return "-" + std::to_string(value);
  }
  if (value > most || (least > 0 && value < static_cast<std::uint64_t>(least))) return {};
  return std::to_string(value);
}

// A bound that only the type sets is of no use to the reader.
std::string text_of_bounds(std::int64_t least, std::uint64_t most) {
  const bool has_begin = least != INT32_MIN && least != INT64_MIN;
  const bool has_end = most < kMaxSigned && most != INT32_MAX;
  if (has_begin && has_end) return fmt::format(" from {} to {}", least, most);
  if (has_begin) return fmt::format(", {} or more", least);
  return has_end ? fmt::format(" up to {}", most) : std::string();
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_word(const std::string& text, const std::string& word, bool in_any_case) {
  return text == word || (in_any_case && lower_case(text) == lower_case(word));
}

}  // namespace

CLI::Validator whole_number_in(std::int64_t least, std::uint64_t most) {
  const auto convert = [=](std::string& text) -> std::string {
    if (const auto number = read_whole(text, least, most)) {
      text = *number;
      return {};
    }
    return fmt::format("{}; expected a whole number{}", biogpu::quoted(text),
                       text_of_bounds(least, most));
  };
  return {convert, ""};
}

CLI::Validator number_in(double least, double most) {
  const auto check = [=](std::string& text) -> std::string {
    double value = 0;
    const std::string_view digits = without_plus(text);
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    // Written so that NaN fails.
    if (error == std::errc{} && rest == end && value >= least && value <= most) return {};
    return fmt::format("{}; expected a number from {} to {}", biogpu::quoted(text), least, most);
  };
  return {check, ""};
}

CLI::Validator size_suffix(std::uint64_t unit) {
  const auto convert = [unit](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    constexpr std::string_view kSuffixes = "kmgt";
    const auto power = suffix.empty() ? 0
                                      : kSuffixes.find(static_cast<char>(
                                            std::tolower(static_cast<unsigned char>(suffix[0])))) +
                                            1;
    bool bad = error != std::errc{} || suffix.size() > 1 || (!suffix.empty() && power == 0);
    for (std::size_t i = 0; i < power && !bad; ++i)
      bad = __builtin_mul_overflow(value, unit, &value);
    if (bad) return "'" + text + "'; expected a number with k, M, G, T or nothing after it";
    text = std::to_string(value);
    return {};
  };
  return {convert, ""};
}

CLI::Validator one_of(std::vector<std::string> words, bool in_any_case) {
  const std::string name = fmt::format("{}{}", kChoices, fmt::join(words, "|"));
  const auto convert = [words = std::move(words), in_any_case](std::string& text) -> std::string {
    for (const std::string& word : words)
      if (is_word(text, word, in_any_case)) {
        text = word;
        return {};
      }
    return fmt::format("{}; expected {}", biogpu::quoted(text), any_of(words));
  };
  return {convert, "", name};
}

CLI::Validator one_of_numbers(std::vector<std::pair<std::string, int>> words, bool in_any_case) {
  std::vector<std::string> choices;
  choices.reserve(words.size());
  for (const auto& [word, number] : words) choices.push_back(word);
  const std::string name = fmt::format("{}{}", kChoices, fmt::join(choices, "|"));
  const auto convert = [words = std::move(words), in_any_case](std::string& text) -> std::string {
    std::vector<std::string> known;
    for (const auto& [word, number] : words) {
      if (is_word(text, word, in_any_case)) {
        text = std::to_string(number);
        return {};
      }
      known.push_back(word);
    }
    return fmt::format("{}; expected {}", biogpu::quoted(text), any_of(known));
  };
  return {convert, "", name};
}

CLI::Validator output_name(std::vector<std::string> formats, io::OtherSuffixes others) {
  const auto check = [formats = std::move(formats), others](std::string& text) {
    return io::check_suffix(text, formats, others);
  };
  return {check, ""};
}

CLI::Validator text_name(const std::vector<std::string>& formats) {
  std::vector<std::string> taken = {"txt", "tsv"};
  taken.insert(taken.end(), formats.begin(), formats.end());
  return output_name(std::move(taken), io::OtherSuffixes::accept);
}

std::string describe_empty_value() {
  return "''; expected a value that is not empty; is a variable of the shell not set?";
}

std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace biogpu::app
