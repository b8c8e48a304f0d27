#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace biogpu::models::molscribe {

// Characters of a text in UTF-8.
inline std::int64_t n_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace biogpu::models::molscribe
