#include "apps/biogpu/kmer/jellyfish_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

// The number that text begins with, which is taken off it. False where it begins with none, or one
// above 64 bits.
bool take_number(std::string_view& text, std::uint64_t& value) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  while (!text.empty() && kBlanks.find(text[0]) != std::string_view::npos) text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with('0')) {
    base = 8;
  }
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  text = {rest, static_cast<std::size_t>(end - rest)};
  return error == std::errc{};
}

}  // namespace

CLI::Validator jellyfish_number(std::uint64_t min, std::uint64_t max) {
  const auto convert = [min, max](std::string& text) -> std::string {
    std::string_view rest = text;
    std::uint64_t value = 0;
    if (!take_number(rest, value) || !rest.empty() || value < min || value > max)
      return fmt::format(
          "{}; expected a whole number from {} to {}; 0x begins a hexadecimal and 0 an "
          "octal one",
          biogpu::quoted(text), min, max);
    text = std::to_string(value);
    return {};
  };
  return {convert, ""};
}

CLI::Validator jellyfish_size() {
  const auto convert = [](std::string& text) -> std::string {
    constexpr std::string_view kSuffixes = "kMGTPE";
    std::string_view rest = text;
    std::uint64_t value = 0;
    bool good = take_number(rest, value) && rest.size() <= 1;
    if (good && !rest.empty()) {
      const std::size_t power = kSuffixes.find(rest[0]) + 1;
      good = power > 0;
      for (std::size_t i = 0; i < power && good; ++i)
        good = !__builtin_mul_overflow(value, 1000, &value);
    }
    if (!good)
      return biogpu::quoted(text) + "; expected a number with k, M, G, T, P, E or nothing after it";
    text = std::to_string(value);
    return {};
  };
  return {convert, ""};
}

}  // namespace biogpu::app
