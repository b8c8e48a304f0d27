#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace biogpu::io {

// What an .npy holds, by its header.
struct NpyHeader {
  char kind = 'f';  // f: floating point, i and u: integers, b: truth values
  std::size_t bytes_a_number = 4;
  bool big_endian = false;
  bool fortran_order = false;  // the first axis is the fastest
  std::vector<std::int64_t> shape;
  std::size_t n_numbers = 0;
  std::size_t begin = 0;  // of the numbers, in bytes
};

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// The header of a whole .npy of version 1, 2 or 3, whose numbers fill the rest of the bytes.
// (NumPy, "NPY format".) Throws std::invalid_argument with what is wrong, without the name.
NpyHeader parse_npy_header(std::string_view bytes);

}  // namespace biogpu::io
