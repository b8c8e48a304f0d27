#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace biogpu::io::images {

// Colours of a picture, three bytes a pixel, row by row from the top left.
struct Image {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // [height, width, 3]
};

// Of a picture that is read: its size is compared with this before memory is reserved.
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 26;

inline bool fits(std::uint64_t width, std::uint64_t height) {
  return width > 0 && height > 0 && width <= kMaxPixels && height <= kMaxPixels / width;
}

// The picture as it is to be looked at. orientation: of EXIF and TIFF, 1 to 8; where the first row
// and the first column of the stored pixels belong.
Image oriented(Image image, int orientation);

}  // namespace biogpu::io::images
