#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/io/lazy_text.hpp"

namespace biogpu::io {

// The fields of a line of a table, without the blanks around them. A field may stand in double
// quotes, as R and spreadsheets write it: the separator in it is text, and two quotes are one
// (RFC 4180). Blanks as separator may be several. place: of the line, for Error{bad_input} where a
// quote is not closed or is followed by text.
std::vector<std::string> split_table_line(std::string_view line, char separator, LazyText place);

// Text of a file, as a name, for one field or one line of an output: a tab, a line feed and a
// carriage return as \t, \n and \r, other control characters as \xNN, all else as it is.
std::string as_field(std::string_view text);

}  // namespace biogpu::io
