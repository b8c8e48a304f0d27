#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// A whole number from least to most as fastp reads it, by a C++ stream: blanks, a sign and zeros
// may stand in front, the digits are decimal, and nothing follows. CLI11 itself would take 010 for
// octal and 0x10 for hexadecimal.
CLI::Validator fastp_number(std::int64_t least, std::int64_t most);

}  // namespace biogpu::app
