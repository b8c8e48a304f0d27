#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace biogpu {

// Characters of an input's text that a message shows.
inline constexpr std::size_t kQuotedCharacters = 60;

// Text of an input for one line of a message: bytes that are not printable ASCII as the four
// characters \xNN, and what would show as more than at_most characters cut, with its length:
// "ACGT... (5000 bytes)".
std::string shortened(std::string_view text, std::size_t at_most = kQuotedCharacters);

// The same in single quotes, the length outside them: "'ACGT...' (5000 bytes)".
std::string quoted(std::string_view text, std::size_t at_most = kQuotedCharacters);
// Without these std::quoted would be the better match where <iomanip> is included.
inline std::string quoted(const std::string& text, std::size_t at_most = kQuotedCharacters) {
  return quoted(std::string_view(text), at_most);
}
inline std::string quoted(std::string& text, std::size_t at_most = kQuotedCharacters) {
  return quoted(std::string_view(text), at_most);
}
inline std::string quoted(const char* text, std::size_t at_most = kQuotedCharacters) {
  return quoted(std::string_view(text), at_most);
}

}  // namespace biogpu
