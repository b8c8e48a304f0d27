#include "lib/io/images/image_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/core/module.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/images/bmp.hpp"
#include "lib/io/images/decoder_module.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io::images {
namespace {

using namespace std::string_view_literals;
constexpr char kModule[] = "libbiogpu_images.so";

const DecoderModule& load_decoders() {
  const auto fail = [](const std::string& why) {
    return Error(ErrorCode::usage, fmt::format("PNG, JPEG and TIFF need {}: {}", kModule, why));
  };
  const auto path = find_module(kModule);
  if (path.empty())
    throw fail(has_image_decoders() ? "it is not installed"
                                    : "this build has no libpng, libjpeg and libtiff");
  std::string why;
  using Entry = const DecoderModule* (*)();
  const auto entry = reinterpret_cast<Entry>(open_module(path, "biogpu_image_decoders", &why));
  if (entry == nullptr) throw fail(why);
  const DecoderModule* const module = entry();
  if (module == nullptr || module->interface != DecoderModule::kInterface)
    throw fail(path.string() + " is of another version of biogpu");
  return *module;
}

const DecoderModule& decoders() {
  static const DecoderModule& module = load_decoders();
  return module;
}

std::optional<ImageKind> kind_of(std::string_view beginning) {
  if (beginning.starts_with("\x89PNG"sv)) return ImageKind::png;
  if (beginning.starts_with("\xFF\xD8\xFF"sv)) return ImageKind::jpeg;
  if (beginning.starts_with("II*\0"sv) || beginning.starts_with("MM\0*"sv) ||
      beginning.starts_with("II+\0"sv) || beginning.starts_with("MM\0+"sv))
    return ImageKind::tiff;
  if (beginning.starts_with("BM"sv)) return ImageKind::bmp;
  return std::nullopt;
}

const char* name_of(ImageKind kind) {
  switch (kind) {
    case ImageKind::png:
      return "PNG";
    case ImageKind::jpeg:
      return "JPEG";
    case ImageKind::tiff:
      return "TIFF";
    case ImageKind::bmp:
      return "BMP";
  }
  return "";
}

}  // namespace

bool has_image_decoders() {
#ifdef BIOGPU_HAS_IMAGE_DECODERS
  return true;
#else
  return false;
#endif
}

ImageFile::ImageFile(const std::string& path) {
  input::RawFile file(path);
  label_ = file.label();
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (std::size_t n = 0, got = 1; got > 0; n += got) {
    if (n > kMaxBytes)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: has more than {} bytes", label_, kMaxBytes));
    bytes_.resize(n + kPiece);
    got = file.read(reinterpret_cast<char*>(bytes_.data() + n), kPiece);
    if (got == 0) bytes_.resize(n);
  }
  const std::string_view beginning(reinterpret_cast<const char*>(bytes_.data()),
                                   std::min<std::size_t>(bytes_.size(), 8));
  const std::optional<ImageKind> kind = kind_of(beginning);
  if (!kind)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: begins with {}; expected a PNG, JPEG, TIFF or BMP file", label_,
                            beginning.empty() ? "nothing" : quoted(beginning)));
  kind_ = *kind;
  std::string why;
  if (kind_ == ImageKind::tiff && !decoders().tiff_pages(bytes_, &n_pages_, &why)) fail(why);
}

Image ImageFile::page(std::uint32_t number) const {
  Image image;
  std::string why;
  bool is_read = false;
  try {
    switch (kind_) {
      case ImageKind::png:
        is_read = decoders().png(bytes_, &image, &why);
        break;
      case ImageKind::jpeg:
        is_read = decoders().jpeg(bytes_, &image, &why);
        break;
      case ImageKind::tiff:
        is_read = decoders().tiff(bytes_, number, &image, &why);
        break;
      case ImageKind::bmp:
        image = decode_bmp(bytes_);
        is_read = true;
        break;
    }
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    why = error.what();
  }
  if (!is_read) fail(why, number);
  return image;
}

void ImageFile::fail(const std::string& why, std::uint32_t page) const {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: {}malformed {}: {}", label_,
                          n_pages_ > 1 ? fmt::format("page {}: ", page + 1) : "", name_of(kind_),
                          shortened(why, 200)));
}

}  // namespace biogpu::io::images
