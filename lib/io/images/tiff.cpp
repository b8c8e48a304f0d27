#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "lib/io/images/decoder_module.hpp"

namespace biogpu::io::images {
namespace {

constexpr tmsize_t kMaxAllocation = tmsize_t{1} << 29;
constexpr std::uint32_t kMaxPages = 65535;

struct Reader {
  std::span<const std::uint8_t> bytes;
  std::uint64_t at = 0;
  std::string why;  // the first error
};

Reader& reader_of(thandle_t handle) { return *static_cast<Reader*>(handle); }

tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t n) {
  Reader& reader = reader_of(handle);
  if (n <= 0 || reader.at >= reader.bytes.size()) return 0;
  const std::uint64_t n_there =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(n), reader.bytes.size() - reader.at);
  std::memcpy(to, reader.bytes.data() + reader.at, n_there);
  reader.at += n_there;
  return static_cast<tmsize_t>(n_there);
}
tmsize_t write_bytes(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek(thandle_t handle, toff_t offset, int from) {
  Reader& reader = reader_of(handle);
  reader.at = offset + (from == SEEK_CUR ? reader.at : from == SEEK_END ? reader.bytes.size() : 0);
  return reader.at;
}
toff_t size(thandle_t handle) { return reader_of(handle).bytes.size(); }
int close(thandle_t) { return 0; }

int on_error(TIFF*, void* reader, const char*, const char* format, va_list arguments) {
  std::string& why = static_cast<Reader*>(reader)->why;
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (why.empty()) why = text;
  return 1;
}
int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

using Handle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

// Mode "m": the bytes are not mapped by libtiff.
Handle open(Reader& reader) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
      TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &reader);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, nullptr);
  return {TIFFClientOpenExt("picture", "rm", &reader, read_bytes, write_bytes, seek, close, size,
                            nullptr, nullptr, options.get()),
          TIFFClose};
}

bool fail(const Reader& reader, const char* otherwise, std::string* why) {
  *why = reader.why.empty() ? otherwise : reader.why;
  return false;
}

// Pixels as they are stored, 0xAABBGGRR.
bool read_pixels(TIFF* tiff, Image& image, int& orientation, std::string* why) {
  TIFFRGBAImage rgba;
  char message[1024] = "";
  if (TIFFRGBAImageOK(tiff, message) == 0 || TIFFRGBAImageBegin(&rgba, tiff, 1, message) == 0) {
    *why = message;
    return false;
  }
  const std::unique_ptr<TIFFRGBAImage, decltype(&TIFFRGBAImageEnd)> end(&rgba, TIFFRGBAImageEnd);
  orientation = rgba.orientation;
  rgba.orientation = rgba.req_orientation = ORIENTATION_TOPLEFT;
  std::vector<std::uint32_t> pixels(std::size_t{image.width} * image.height);
  if (TIFFRGBAImageGet(&rgba, pixels.data(), image.width, image.height) == 0) return false;
  image.rgb.resize(pixels.size() * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    image.rgb[3 * i] = TIFFGetR(pixels[i]);
    image.rgb[3 * i + 1] = TIFFGetG(pixels[i]);
    image.rgb[3 * i + 2] = TIFFGetB(pixels[i]);
  }
  return true;
}

}  // namespace

bool decode_tiff(DecoderModule::Bytes bytes, std::uint32_t page, Image* image, std::string* why) {
  Reader reader{bytes, 0, {}};
  const Handle tiff = open(reader);
  if (!tiff || TIFFSetDirectory(tiff.get(), page) == 0)
    return fail(reader, "it has no such page", why);
  Image read;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &read.width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &read.height);
  if (!fits(read.width, read.height)) {
    *why = too_large(read.width, read.height);
    return false;
  }
  int orientation = 1;
  std::string refused;
  if (!read_pixels(tiff.get(), read, orientation, &refused) || !reader.why.empty())
    return fail(reader, refused.empty() ? "its pixels cannot be read" : refused.c_str(), why);
  *image = oriented(std::move(read), orientation);
  return true;
}

bool count_tiff_pages(DecoderModule::Bytes bytes, std::uint32_t* n_pages, std::string* why) {
  Reader reader{bytes, 0, {}};
  const Handle tiff = open(reader);
  if (!tiff) return fail(reader, "it has no page", why);
  *n_pages = 1;
  while (*n_pages < kMaxPages && TIFFReadDirectory(tiff.get()) != 0) ++*n_pages;
  return reader.why.empty() || fail(reader, "", why);
}

}  // namespace biogpu::io::images
