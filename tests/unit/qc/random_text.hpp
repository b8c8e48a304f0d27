#pragma once

#include <random>
#include <string>
#include <string_view>

namespace biogpu::qc_test {

// Behind every text that the vector versions read lie bytes that must not matter.
inline constexpr std::size_t kBehind = 128;

inline std::string random_text(std::mt19937& random, std::size_t length, std::string_view letters) {
  std::string text(length, ' ');
  for (char& c : text) c = letters[random() % letters.size()];
  return text;
}

// The text with other bytes behind it, as in a chunk.
inline std::string with_tail(const std::string& text, std::mt19937& random) {
  return text + random_text(random, kBehind, "ACGTN@+\n!~");
}

}  // namespace biogpu::qc_test
