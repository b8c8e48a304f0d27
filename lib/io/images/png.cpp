#include <png.h>

#include <csetjmp>
#include <cstring>
#include <exception>
#include <utility>

#include "lib/io/images/decoder_module.hpp"
#include "lib/io/images/exif.hpp"

namespace biogpu::io::images {
namespace {

constexpr png_alloc_size_t kMaxChunkBytes = 1u << 26;

struct Reader {
  std::span<const std::uint8_t> bytes;
  std::size_t at = 0;
  std::string* why = nullptr;
};

void read_bytes(png_structp png, png_bytep to, std::size_t n) {
  auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
  if (n > reader.bytes.size() - reader.at) png_error(png, "the file ends before the picture does");
  std::memcpy(to, reader.bytes.data() + reader.at, n);
  reader.at += n;
}

[[noreturn]] void on_error(png_structp png, png_const_charp what) {
  *static_cast<std::string*>(png_get_error_ptr(png)) = what;
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

// What is made while libpng may jump out of a function.
struct Made {
  Image image;
  std::vector<png_bytep> rows;
  int orientation = 1;
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~Made() { png_destroy_read_struct(&png, &info, nullptr); }
};

// 8 bits and three colours: palettes and grey levels are expanded, of 16 bits the upper ones are
// taken, alpha is left out.
void set_transforms(png_structp png, png_infop info) {
  const png_byte type = png_get_color_type(png, info);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if ((type & PNG_COLOR_MASK_COLOR) == 0) {
    png_set_expand_gray_1_2_4_to_8(png);
    png_set_gray_to_rgb(png);
  }
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

bool read(Made& made, Reader& reader) {
  const png_structp png = made.png;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_chunk_malloc_max(png, kMaxChunkBytes);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_read_fn(png, &reader, read_bytes);
  png_read_info(png, made.info);
  made.image.width = png_get_image_width(png, made.info);
  made.image.height = png_get_image_height(png, made.info);
  if (!fits(made.image.width, made.image.height)) {
    *reader.why = too_large(made.image.width, made.image.height);
    return false;
  }
  set_transforms(png, made.info);
  const std::size_t row_bytes = std::size_t{made.image.width} * 3;
  if (png_get_rowbytes(png, made.info) != row_bytes) png_error(png, "rows of an unknown form");
  made.image.rgb.resize(row_bytes * made.image.height);
  made.rows.resize(made.image.height);
  for (std::size_t i = 0; i < made.rows.size(); ++i)
    made.rows[i] = made.image.rgb.data() + i * row_bytes;
  png_read_image(png, made.rows.data());
  png_read_end(png, made.info);
  png_bytep exif = nullptr;
  png_uint_32 n_exif = 0;
  if (png_get_eXIf_1(png, made.info, &n_exif, &exif) != 0)
    made.orientation = exif_orientation({exif, n_exif});
  return true;
}

}  // namespace

bool decode_png(DecoderModule::Bytes bytes, Image* image, std::string* why) {
  Reader reader{bytes, 0, why};
  Made made;
  made.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, why, on_error, on_warning);
  if (made.png != nullptr) made.info = png_create_info_struct(made.png);
  if (made.info == nullptr) {
    *why = "libpng cannot be used: out of memory, or another version than it was built with";
    return false;
  }
  if (!read(made, reader)) return false;
  *image = oriented(std::move(made.image), made.orientation);
  return true;
}

}  // namespace biogpu::io::images
