#pragma once

#include <cstdint>
#include <span>

#include "lib/io/images/image.hpp"

namespace biogpu::io::images {

// A BMP file of Windows or OS/2: 1, 4, 8, 16, 24 or 32 bits a pixel, with or without run lengths.
// Five and six bits are the upper ones of eight, as OpenCV has them; alpha is left out. Throws
// std::runtime_error with what is wrong.
Image decode_bmp(std::span<const std::uint8_t> bytes);

}  // namespace biogpu::io::images
