#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace biogpu::molecule {

// The pairs of the comment line of an extxyz frame: key=value, where either may stand in double
// quotes (a backslash takes the next character as it is) and a value in braces or brackets, which
// go away. A key alone has the value "T". Not given: a quote or a bracket that does not end.
using CommentPairs = std::vector<std::pair<std::string, std::string>>;
std::optional<CommentPairs> parse_comment(std::string_view line);

// "key=value", in quotes where it needs them.
void append_pair(std::string& line, std::string_view key, std::string_view value);

// A group of columns of `Properties=species:S:1:pos:R:3`.
struct PropertyColumns {
  std::string name;
  char type = 'S';  // S, R, I, L
  std::size_t first = 0, n = 0;
};
// Not given: malformed.
std::optional<std::vector<PropertyColumns>> parse_properties(std::string_view text);

}  // namespace biogpu::molecule
