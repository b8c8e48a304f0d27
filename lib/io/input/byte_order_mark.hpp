#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "lib/io/input/byte_source.hpp"

namespace biogpu::io::input {

// The rule for the byte order mark that some editors and spreadsheets write in front of a text:
// that of UTF-8 is no part of the text, and a text that has that of UTF-16 or UTF-32 is refused.
// Every text input is read through one of these functions.

// head: the first 4 bytes of a text, or more. Returns the number of bytes of the mark, 0 or 3.
// Throws Error{bad_input} with the label for text in UTF-16 or UTF-32.
std::size_t count_mark_bytes(std::string_view head, const std::string& label);

// A whole text without the mark.
std::string_view without_mark(std::string_view text, const std::string& label);

// The text of a source without the mark. read() throws what count_mark_bytes() throws.
std::unique_ptr<ByteSource> without_mark(std::unique_ptr<ByteSource> text, std::string label);

}  // namespace biogpu::io::input
