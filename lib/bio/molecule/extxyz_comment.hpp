#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace biogpu::molecule {

// key=value of a comment line, or a word alone, which has the value "T".
struct CommentPair {
  std::string key, value;
  bool has_value = false;
};

// The comment line of an xyz frame by the grammar of extended xyz and as ASE reads it. Blanks may
// stand around '='. A key or value may stand in double or single quotes, where a backslash takes
// the next character as it is and "\n" is a line feed. A value may be an array in brackets, which
// go away as the commas in it do. What is in the middle of a text is part of it: an apostrophe, a
// second '='.
struct Comment {
  std::vector<CommentPair> pairs;
  bool is_closed = true;  // else a quote or bracket without its end, which is taken as it is
};
Comment parse_comment(std::string_view line);

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

// T, true, True, TRUE or 1, and the same of F and 0.
std::optional<bool> parse_logical(std::string_view text);

// How many of the three axes are periodic by the text of `pbc`: T or F, as true, True, TRUE or 1
// and their opposites too, three of them or one for all. Not given: another text.
std::optional<std::size_t> parse_periodic(std::string_view text);

}  // namespace biogpu::molecule
