#include "apps/biogpu/qc/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "lib/core/quote.hpp"

namespace biogpu::app {

CLI::Validator fastp_number(std::int64_t least, std::int64_t most) {
  const auto convert = [least, most](std::string& text) -> std::string {
    std::string_view digits = text;
    digits.remove_prefix(std::min(digits.find_first_not_of(" \t\n\v\f\r"), digits.size()));
    // from_chars() takes a minus alone.
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
    std::int64_t value = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, value);
    if (end != last || error == std::errc::invalid_argument)
      return fmt::format("{}; expected a whole number", biogpu::quoted(text));
    if (error != std::errc{} || value < least || value > most)
      return fmt::format("{}; expected a whole number from {} to {}", biogpu::quoted(text), least,
                         most);
    text = std::to_string(value);
    return {};
  };
  return {convert, ""};
}

}  // namespace biogpu::app
