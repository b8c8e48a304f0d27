#include <algorithm>
#include <utility>

#include "lib/io/images/image.hpp"

namespace biogpu::io::images {

Image oriented(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool turns = orientation >= 5;  // rows become columns
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  Image out{turns ? image.height : image.width, turns ? image.width : image.height,
            std::vector<std::uint8_t>(image.rgb.size())};
  for (std::size_t row = 0; row < image.height; ++row) {
    const std::uint8_t* from = &image.rgb[row * image.width * 3];
    for (std::size_t column = 0; column < image.width; ++column, from += 3) {
      std::size_t x = turns ? row : column, y = turns ? column : row;
      if (from_right) x = out.width - 1 - x;
      if (from_below) y = out.height - 1 - y;
      std::copy_n(from, 3, &out.rgb[(y * out.width + x) * 3]);
    }
  }
  return out;
}

}  // namespace biogpu::io::images
