#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace biogpu::models::molscribe {

// Of ASCII.
inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Characters of a text in UTF-8.
inline std::int64_t n_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace biogpu::models::molscribe
