#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <utility>

#include "lib/io/images/decoder_module.hpp"
#include "lib/io/images/exif.hpp"

namespace biogpu::io::images {
namespace {

// A progressive file refines the whole picture with each scan: a small one with many of them takes
// hours.
constexpr int kMaxScans = 500;
constexpr unsigned kMaxMarkerBytes = 0xFFFF;
constexpr std::array<std::uint8_t, 6> kExifName{'E', 'x', 'i', 'f', 0, 0};

struct ErrorManager {
  jpeg_error_mgr base{};
  std::jmp_buf back{};
  std::string* why = nullptr;
};

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto& errors = *reinterpret_cast<ErrorManager*>(jpeg->err);
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  *errors.why = text;
  std::longjmp(errors.back, 1);
}

// Of warnings (level -1) those that tell of pixels that are not in the file.
void on_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  if (level == -1 &&
      (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE))
    on_error(jpeg);
}

void on_progress(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
  auto& errors = *reinterpret_cast<ErrorManager*>(jpeg->err);
  *errors.why = "it has more than " + std::to_string(kMaxScans) + " scans";
  std::longjmp(errors.back, 1);
}

struct Made {
  jpeg_decompress_struct jpeg{};
  ErrorManager errors;
  jpeg_progress_mgr progress{};
  Image image;
  std::vector<std::uint8_t> row;  // of four colours
  int orientation = 1;

  ~Made() { jpeg_destroy_decompress(&jpeg); }
};

// Inks as Adobe's files have them, inverted: 255 is no ink.
void add_cmyk_row(const std::vector<std::uint8_t>& row, std::vector<std::uint8_t>& rgb) {
  for (std::size_t i = 0; i < row.size(); i += 4) {
    const int black = row[i + 3];
    for (std::size_t c = 0; c < 3; ++c)
      rgb.push_back(static_cast<std::uint8_t>(black - ((255 - row[i + c]) * black >> 8)));
  }
}

int orientation_of(const jpeg_decompress_struct& jpeg) {
  for (jpeg_saved_marker_ptr marker = jpeg.marker_list; marker != nullptr; marker = marker->next) {
    const std::span<const std::uint8_t> bytes(marker->data, marker->data_length);
    if (marker->marker == JPEG_APP0 + 1 && bytes.size() > kExifName.size() &&
        std::equal(kExifName.begin(), kExifName.end(), bytes.begin()))
      return exif_orientation(bytes.subspan(kExifName.size()));
  }
  return 1;
}

bool read(Made& made, std::span<const std::uint8_t> bytes) {
  jpeg_decompress_struct& jpeg = made.jpeg;
  if (setjmp(made.errors.back) != 0) return false;
  jpeg_create_decompress(&jpeg);
  jpeg.progress = &made.progress;
  made.progress.progress_monitor = on_progress;
  jpeg_mem_src(&jpeg, bytes.data(), bytes.size());
  jpeg_save_markers(&jpeg, JPEG_APP0 + 1, kMaxMarkerBytes);
  jpeg_read_header(&jpeg, TRUE);
  if (!fits(jpeg.image_width, jpeg.image_height)) {
    *made.errors.why = too_large(jpeg.image_width, jpeg.image_height);
    return false;
  }
  made.orientation = orientation_of(jpeg);
  const bool has_inks = jpeg.num_components == 4;
  jpeg.out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  made.image.width = jpeg.output_width;
  made.image.height = jpeg.output_height;
  const std::size_t row_bytes = std::size_t{jpeg.output_width} * 3;
  made.image.rgb.reserve(row_bytes * jpeg.output_height);
  if (has_inks)
    made.row.resize(std::size_t{jpeg.output_width} * 4);
  else
    made.image.rgb.resize(row_bytes * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW to = has_inks ? made.row.data() : &made.image.rgb[jpeg.output_scanline * row_bytes];
    jpeg_read_scanlines(&jpeg, &to, 1);
    if (has_inks) add_cmyk_row(made.row, made.image.rgb);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

bool decode_jpeg(DecoderModule::Bytes bytes, Image* image, std::string* why) {
  Made made;
  made.errors.why = why;
  made.jpeg.err = jpeg_std_error(&made.errors.base);
  made.errors.base.error_exit = on_error;
  made.errors.base.emit_message = on_message;
  if (!read(made, bytes)) return false;
  *image = oriented(std::move(made.image), made.orientation);
  return true;
}

}  // namespace biogpu::io::images
