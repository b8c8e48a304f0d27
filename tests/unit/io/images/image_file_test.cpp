#include "lib/io/images/image_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/images/exif.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using io::images::Image;
using io::images::ImageFile;

namespace {

const std::string kFolder = BIOGPU_TEST_DATA "/images/";

std::string hex_of(const std::vector<std::uint8_t>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

struct Page {
  std::string file;
  std::uint32_t number = 0, width = 0, height = 0;
  std::string pixels;
};

// As OpenCV reads them: scripts/reference/make_images.py.
std::vector<Page> expected_pages() {
  std::ifstream in(kFolder + "pixels.tsv");
  std::vector<Page> pages;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Page page;
    fields >> page.file >> page.number >> page.width >> page.height >> page.pixels;
    pages.push_back(page);
  }
  return pages;
}

// What reading all pages of these bytes ends with; empty: nothing.
std::string error_of(const std::string& bytes) {
  const test::TempFolder folder;
  const std::string path = folder.file("picture", bytes);
  try {
    const ImageFile image(path);
    for (std::uint32_t i = 0; i < image.n_pages(); ++i) image.page(i);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    const std::string what = error.what();
    CHECK(what.starts_with(path));
    CHECK(what.find('\n') == what.npos);
    return what;
  }
  return {};
}

void put(std::string& bytes, std::size_t at, std::uint32_t value, bool is_little) {
  for (std::size_t i = 0; i < 4; ++i)
    bytes[at + i] = static_cast<char>(value >> 8 * (is_little ? i : 3 - i));
}

}  // namespace

TEST_CASE("io.images: every kind of file has the pixels of OpenCV", "[io]") {
  const std::vector<Page> pages = expected_pages();
  REQUIRE(pages.size() > 60);
  std::map<std::string, std::uint32_t> n_pages;
  for (const Page& page : pages) ++n_pages[page.file];
  for (const Page& page : pages) {
    CAPTURE(page.file, page.number);
    const ImageFile file(kFolder + page.file);
    CHECK(file.n_pages() == n_pages[page.file]);
    const Image image = file.page(page.number - 1);
    CHECK(image.width == page.width);
    CHECK(image.height == page.height);
    CHECK(hex_of(image.rgb) == page.pixels);
  }
}

TEST_CASE("io.images: a file cut short is an error of one line", "[io]") {
  for (const char* name : {"rgb8.png", "gray1_interlaced.png", "rgb.jpg", "rgb_progressive.jpg",
                           "rgb8_pages.tif", "group4.tif", "rgb24.bmp", "runs8.bmp"}) {
    CAPTURE(name);
    const std::string bytes = test::read_file(kFolder + name);
    REQUIRE(error_of(bytes).empty());
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{5}, bytes.size() / 4,
                                bytes.size() / 2, bytes.size() * 3 / 4}) {
      CAPTURE(n);
      CHECK_FALSE(error_of(bytes.substr(0, n)).empty());
    }
  }
}

TEST_CASE("io.images: a picture that is too large is refused before its memory is taken", "[io]") {
  std::string bmp = test::read_file(kFolder + "rgb24.bmp");
  put(bmp, 18, 100000, true);
  put(bmp, 22, 100000, true);
  CHECK(error_of(bmp).find("100000 x 100000 pixels") != std::string::npos);
  put(bmp, 18, 0, true);
  CHECK(error_of(bmp).find("0 x 100000 pixels") != std::string::npos);
  put(bmp, 18, 5000, true);
  put(bmp, 22, 5000, true);
  CHECK(error_of(bmp).find("the file ends before") != std::string::npos);
  std::string jpeg = test::read_file(kFolder + "rgb.jpg");
  const std::size_t frame = jpeg.find("\xFF\xC0");
  REQUIRE(frame != jpeg.npos);
  for (std::size_t i = 5; i < 9; ++i) jpeg[frame + i] = '\xEF';
  CHECK(error_of(jpeg).find("pixels; expected") != std::string::npos);
}

TEST_CASE("io.images: what is no picture is named by its first bytes", "[io]") {
  CHECK(error_of("").find("begins with nothing") != std::string::npos);
  CHECK(error_of("%PDF-1.7 ...").find("begins with '%PDF-1.7'") != std::string::npos);
  CHECK(error_of(std::string("\x1f\x8b\x08\0\0\0\0\0", 8)).find("expected a PNG") !=
        std::string::npos);
}

TEST_CASE("io.images: the orientation of EXIF data, whole and damaged", "[io]") {
  std::vector<std::uint8_t> exif{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0,
                                 3,   0,   0, 0,  1, 0, 6, 0, 0, 0, 0, 0,  0};
  CHECK(io::images::exif_orientation(exif) == 6);
  for (std::size_t n = 0; n < 22; ++n)
    CHECK(io::images::exif_orientation(std::span(exif).first(n)) == 1);
  exif[19] = 9;
  CHECK(io::images::exif_orientation(exif) == 1);
  exif[19] = 3;
  exif[4] = 255;
  CHECK(io::images::exif_orientation(exif) == 1);
}
