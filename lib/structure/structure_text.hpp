#pragma once

#include <string>
#include <string_view>

namespace biogpu::structure {

// The largest coordinate of an atom, in Angstrom: squares of sums of these are far from infinite.
inline constexpr double kMaxCoordinate = 1e6;

// The text of a structure file, plain or gzip, without the byte order mark of UTF-8. Errors:
// Error{failed} where it cannot be read; Error{bad_input} for a file in another compression, a
// pointer of Git LFS, a byte that no text has, and for gzip that expands more than coordinates can:
// past 16 MiB, to more than 50 times its size.
std::string read_structure_text(const std::string& path);

// Throws Error{bad_input} "PATH: WHAT".
[[noreturn]] void fail(const std::string& path, const std::string& what);

// Not starts_with(): clang builds the files that include gemmi as C++17 (CMakeLists.txt).
inline bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

}  // namespace biogpu::structure
