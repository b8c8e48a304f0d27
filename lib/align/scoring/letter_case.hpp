#pragma once

namespace biogpu::align {

// The upper case of a letter from a to z in every locale; other characters stay.
constexpr char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace biogpu::align
