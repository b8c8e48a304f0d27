#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace biogpu {

// Bytes of an input's text that a message shows.
inline constexpr std::size_t kQuotedBytes = 60;

// Text of an input for one line of a message: bytes that are not printable ASCII as \xNN, and what
// is longer than at_most bytes cut, with its length: "ACGT... (5000 bytes)".
std::string shortened(std::string_view text, std::size_t at_most = kQuotedBytes);

// The same in single quotes, the length outside them: "'ACGT...' (5000 bytes)".
std::string quoted(std::string_view text, std::size_t at_most = kQuotedBytes);
// Without these std::quoted would be the better match where <iomanip> is included.
inline std::string quoted(const std::string& text, std::size_t at_most = kQuotedBytes) {
  return quoted(std::string_view(text), at_most);
}
inline std::string quoted(std::string& text, std::size_t at_most = kQuotedBytes) {
  return quoted(std::string_view(text), at_most);
}
inline std::string quoted(const char* text, std::size_t at_most = kQuotedBytes) {
  return quoted(std::string_view(text), at_most);
}

}  // namespace biogpu
