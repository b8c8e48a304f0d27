#pragma once

#include <string>

#include "lib/io/images/image.hpp"

namespace biogpu::io::images {

// A picture as a PNG file of 8 bits and three colours.
std::string encode_png(const Image& image);

}  // namespace biogpu::io::images
