// Pictures of every kind: the first bytes choose the decoder. Seeds are tests/data/images.
#include <zlib.h>

#include <string>
#include <string_view>

#include "lib/io/images/image_file.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

namespace {

// Writes the checksums of the chunks of a PNG file.
void repair(std::string& content) {
  if (!std::string_view(content).starts_with("\x89PNG")) return;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(content[at]); };
  for (std::size_t at = 8; at + 12 <= content.size();) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < 4; ++i) n = n << 8 | byte(at + i);
    if (n > content.size() - at - 12) return;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(&content[at + 4]), static_cast<uInt>(n + 4));
    for (std::size_t i = 0; i < 4; ++i)
      content[at + 8 + n + i] = static_cast<char>(sum >> (24 - 8 * i));
    at += n + 12;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  using namespace biogpu;
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] {
    const io::images::ImageFile picture(file.path());
    for (std::uint32_t i = 0; i < picture.n_pages(); ++i) {
      const io::images::Image image = picture.page(i);
      fuzz::require(io::images::fits(image.width, image.height), "a picture without a size");
      fuzz::require(image.rgb.size() == std::size_t{3} * image.width * image.height,
                    "a picture without all pixels");
    }
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  biogpu::fuzz::Format format;
  format.repair = repair;
  return biogpu::fuzz::mutate_file(data, size, max_size, seed, format);
}
