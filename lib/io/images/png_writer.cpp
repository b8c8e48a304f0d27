#include "lib/io/images/png_writer.hpp"

#include <cstddef>
#include <string_view>

#include "lib/io/deflate_handles.hpp"

namespace biogpu::io::images {
namespace {

constexpr int kLevel = 6;

void append_number(std::string& text, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
}

void append_chunk(std::string& png, std::string_view name, std::string_view content) {
  append_number(png, static_cast<std::uint32_t>(content.size()));
  const std::size_t begin = png.size();
  png += name;
  png += content;
  append_number(png, libdeflate_crc32(0, png.data() + begin, png.size() - begin));
}

}  // namespace

std::string encode_png(const Image& image) {
  std::string rows;
  const std::size_t row_bytes = std::size_t{3} * image.width;
  rows.reserve((row_bytes + 1) * image.height);
  for (std::size_t y = 0; y < image.height; ++y) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(&image.rgb[y * row_bytes]), row_bytes);
  }
  const Compressor compressor = make_compressor(kLevel);
  std::string packed(libdeflate_zlib_compress_bound(compressor.get(), rows.size()), '\0');
  packed.resize(libdeflate_zlib_compress(compressor.get(), rows.data(), rows.size(), packed.data(),
                                         packed.size()));
  std::string header;
  append_number(header, image.width);
  append_number(header, image.height);
  header += std::string_view("\x08\x02\0\0\0", 5);
  std::string png("\x89PNG\r\n\x1a\n");
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", packed);
  append_chunk(png, "IEND", {});
  return png;
}

}  // namespace biogpu::io::images
