#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/io/images/image.hpp"

namespace biogpu::io::images {

// The decoders that libpng, libjpeg and libtiff are behind. They are in a module that the program
// opens to read such a file: the 16 libraries would add 6 ms to the start of every command. Each
// returns false, with *why one line, where the file is malformed or its picture is too large.
struct DecoderModule {
  static constexpr int kInterface = 1;  // raised with every change of this struct or of Image
  using Bytes = std::span<const std::uint8_t>;
  int interface = kInterface;
  bool (*png)(Bytes bytes, Image* image, std::string* why) = nullptr;
  bool (*jpeg)(Bytes bytes, Image* image, std::string* why) = nullptr;
  bool (*tiff)(Bytes bytes, std::uint32_t page, Image* image, std::string* why) = nullptr;
  bool (*tiff_pages)(Bytes bytes, std::uint32_t* n_pages, std::string* why) = nullptr;
};

// What the functions of one library give: see DecoderModule.
bool decode_png(DecoderModule::Bytes bytes, Image* image, std::string* why);
bool decode_jpeg(DecoderModule::Bytes bytes, Image* image, std::string* why);
bool decode_tiff(DecoderModule::Bytes bytes, std::uint32_t page, Image* image, std::string* why);
bool count_tiff_pages(DecoderModule::Bytes bytes, std::uint32_t* n_pages, std::string* why);

// "is 20000 x 10000 pixels; at most 67108864 pixels are read"
std::string too_large(std::uint64_t width, std::uint64_t height);

}  // namespace biogpu::io::images

extern "C" const biogpu::io::images::DecoderModule* biogpu_image_decoders();
