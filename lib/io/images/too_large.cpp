#include "lib/io/images/decoder_module.hpp"

std::string biogpu::io::images::too_large(std::uint64_t width, std::uint64_t height) {
  return "the picture has " + std::to_string(width) + " x " + std::to_string(height) +
         " pixels; expected at least one and at most " + std::to_string(kMaxPixels);
}
