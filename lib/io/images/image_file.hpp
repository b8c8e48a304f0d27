#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/images/image.hpp"

namespace biogpu::io::images {

enum class ImageKind { png, jpeg, tiff, bmp };

// Whether the module with libpng, libjpeg and libtiff was built; without it BMP alone is read.
bool has_image_decoders();

// A PNG, JPEG, TIFF or BMP file, told by its first bytes. Pixels are those of OpenCV's imread:
// 8 bits, grey levels as three equal colours, alpha left out, 16 bits divided by 256 (of TIFF
// scaled), turned as the orientation of EXIF and TIFF tells.
//
// Errors: Error{failed} where the file cannot be read; Error{bad_input} with the path, and from the
// second page on its number, for what is no such file, malformed, cut short or too large;
// Error{usage} where the decoders are missing.
class ImageFile {
 public:
  // Of a file: it is read into memory.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 29;

  explicit ImageFile(const std::string& path);  // "-": standard input

  ImageKind kind() const { return kind_; }
  std::uint32_t n_pages() const { return n_pages_; }  // of TIFF; else 1
  std::uint64_t n_bytes() const { return bytes_.size(); }
  Image page(std::uint32_t number) const;  // from 0

 private:
  [[noreturn]] void fail(const std::string& why, std::uint32_t page = 0) const;

  std::string label_;
  std::vector<std::uint8_t> bytes_;
  ImageKind kind_ = ImageKind::png;
  std::uint32_t n_pages_ = 1;
};

}  // namespace biogpu::io::images
