#include "lib/core/quote.hpp"

#include <fmt/format.h>

namespace biogpu {
namespace {

std::string shown(char c) {
  if (c >= ' ' && c <= '~') return {c};
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

struct Excerpt {
  std::string text;
  std::string length;  // " (5000 bytes)" where the text was cut
};

Excerpt excerpt(std::string_view text, std::size_t at_most) {
  Excerpt cut;
  for (const char c : text) {
    const std::string next = shown(c);
    if (cut.text.size() + next.size() > at_most) {
      cut.text += "...";
      cut.length = fmt::format(" ({} bytes)", text.size());
      break;
    }
    cut.text += next;
  }
  return cut;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t at_most) {
  const Excerpt cut = excerpt(text, at_most);
  return cut.text + cut.length;
}

std::string quoted(std::string_view text, std::size_t at_most) {
  const Excerpt cut = excerpt(text, at_most);
  return fmt::format("'{}'{}", cut.text, cut.length);
}

}  // namespace biogpu
