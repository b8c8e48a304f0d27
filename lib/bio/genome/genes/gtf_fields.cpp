#include "lib/bio/genome/genes/gtf_fields.hpp"

#include <algorithm>
#include <charconv>

namespace biogpu::genome {

std::optional<std::int64_t> parse_gtf_position(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

std::string_view find_gtf_attribute(std::string_view attributes, std::string_view key) {
  for (;;) {
    attributes.remove_prefix(std::min(attributes.find_first_not_of("; "), attributes.size()));
    const std::size_t key_end = attributes.find(' ');
    if (key_end == attributes.npos) return {};
    const bool found = attributes.substr(0, key_end) == key;
    attributes.remove_prefix(key_end);
    attributes.remove_prefix(std::min(attributes.find_first_not_of(' '), attributes.size()));
    const bool in_quotes = attributes.starts_with('"');
    if (in_quotes) attributes.remove_prefix(1);
    const std::size_t end = std::min(attributes.find(in_quotes ? '"' : ';'), attributes.size());
    if (found) return attributes.substr(0, end);
    attributes.remove_prefix(std::min(end + 1, attributes.size()));
  }
}

}  // namespace biogpu::genome
