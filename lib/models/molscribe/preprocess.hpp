#pragma once

#include <cstdint>
#include <vector>

#include "lib/io/images/image.hpp"

namespace biogpu::models::molscribe {

// A picture as the network reads it.
struct PreparedImage {
  std::uint32_t width = 0, height = 0;  // before it was cropped
  std::vector<std::uint8_t> gray;       // [size, size]
  // What was cut out and scaled, in pixels of the whole picture; its sides may lie outside.
  double left = 0, top = 0, cut_width = 0, cut_height = 0;
};

// Cuts white rows and columns off the sides (255, 255, 255 alone is white), adds 5 white pixels on
// each side, scales to size x size and makes grey levels of it: byte for byte what OpenCV's resize
// (INTER_LINEAR) and cvtColor (RGB2GRAY) give. A picture that is all white is not cut.
PreparedImage prepare_image(const io::images::Image& image, std::int64_t size);

}  // namespace biogpu::models::molscribe
