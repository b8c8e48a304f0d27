#include "lib/models/molscribe/preprocess.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

// Pixels of a linear congruential generator; ink in both corners.
io::images::Image noise(std::uint32_t width, std::uint32_t height) {
  io::images::Image image{width, height, {}};
  image.rgb.resize(std::size_t{3} * width * height);
  std::uint32_t state = 1;
  for (std::uint8_t& number : image.rgb) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<std::uint8_t>(state >> 24);
  }
  image.rgb.front() = image.rgb.back() = 7;
  return image;
}

std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

}  // namespace

// The hashes are those of copyMakeBorder, resize (INTER_LINEAR) and cvtColor (RGB2GRAY) of OpenCV
// 4.5.5 and 5.0: enlarged, shrunk, by exactly two, and as large as the network's input.
TEST_CASE("models.molscribe: pictures are cut, scaled and made grey as OpenCV does it") {
  struct Case {
    std::uint32_t width, height;
    std::int64_t size;
    std::uint64_t hash;
  };
  const Case cases[] = {
      {182, 182, 96, 0x81e366d1a4f1125eu}, {86, 86, 96, 0x94d45c9211198321u},
      {40, 300, 96, 0x14f85da3b60695aeu},  {301, 40, 96, 0xbf63fc703bb6cec4u},
      {500, 333, 96, 0x5e75a6474df4d52du}, {758, 758, 384, 0x39d8fd0be1b7dffbu},
      {3, 2, 96, 0x77968f1920ed40ddu},     {700, 650, 384, 0x76c435f96a48c480u},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.width, expected.height, expected.size);
    const auto image =
        models::molscribe::prepare_image(noise(expected.width, expected.height), expected.size);
    CHECK(fnv1a(image.gray) == expected.hash);
    CHECK(image.left == -5);
    CHECK(image.cut_width == expected.width + 10);
  }
}
