#pragma once

#include <cstddef>

namespace biogpu::io::input {

// Length of the leading run, within [bytes, bytes + n), of ...
std::size_t count_residues(const char* bytes, std::size_t n);   // letters, '*', '-' and '.'
std::size_t count_qualities(const char* bytes, std::size_t n);  // '!' to '~'
std::size_t count_nonblank(const char* bytes, std::size_t n);   // bytes above ' '

}  // namespace biogpu::io::input
