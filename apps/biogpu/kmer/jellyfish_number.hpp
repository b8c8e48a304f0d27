#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// Numbers of options as Jellyfish reads them, for every numeric option that it has: 0x begins a
// hexadecimal number, another leading 0 an octal one; a plus and blanks before it are allowed,
// nothing behind it. Each replaces the text by the decimal number, or refuses it. CLI11's own
// converter reads -1, and what has too many digits, as the largest number.
CLI::Validator jellyfish_number(std::uint64_t min = 0, std::uint64_t max = UINT64_MAX);
// The same with k, M, G, T, P, E or nothing behind it, powers of 1000, where Jellyfish takes a
// size.
CLI::Validator jellyfish_size();

}  // namespace biogpu::app
