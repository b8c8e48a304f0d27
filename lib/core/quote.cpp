#include "lib/core/quote.hpp"

#include <fmt/format.h>

#include <iterator>

namespace biogpu {
namespace {

// The part that is shown, without what says that it was cut.
std::string shown_bytes(std::string_view text, std::size_t at_most) {
  std::string shown;
  for (const char c : text.substr(0, at_most)) {
    if (c >= ' ' && c <= '~')
      shown.push_back(c);
    else
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(c));
  }
  if (text.size() > at_most) shown += "...";
  return shown;
}

std::string length_if_cut(std::string_view text, std::size_t at_most) {
  return text.size() > at_most ? fmt::format(" ({} bytes)", text.size()) : std::string();
}

}  // namespace

std::string shortened(std::string_view text, std::size_t at_most) {
  return shown_bytes(text, at_most) + length_if_cut(text, at_most);
}

std::string quoted(std::string_view text, std::size_t at_most) {
  return fmt::format("'{}'{}", shown_bytes(text, at_most), length_if_cut(text, at_most));
}

}  // namespace biogpu
