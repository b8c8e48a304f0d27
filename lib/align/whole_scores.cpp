#include "lib/align/whole_scores.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <numeric>

namespace biogpu::align {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits at the front, which leave text.
std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

}  // namespace

std::string how_to_scale(std::string_view text) {
  constexpr std::size_t kMostDecimals = 6;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  if (!text.starts_with('.')) return {};
  text.remove_prefix(1);
  const std::string_view decimals = take_digits(text);
  if (!text.empty() || whole.size() + decimals.size() == 0 || decimals.size() > kMostDecimals)
    return {};
  std::uint64_t fraction = 0;
  std::uint64_t unit = 1;
  for (const char c : decimals) {
    fraction = 10 * fraction + static_cast<std::uint64_t>(c - '0');
    unit *= 10;
  }
  const std::uint64_t factor = unit / std::gcd(fraction, unit);
  if (factor == 1) return "; leave out the decimals";
  return fmt::format("; multiply all scores and gap costs by {}", factor);
}

}  // namespace biogpu::align
