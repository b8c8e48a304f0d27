#include "lib/io/images/bmp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <stdexcept>

namespace biogpu::io::images {
namespace {

constexpr std::size_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40;
enum Compression : std::uint32_t { kNone, kRunLengths8, kRunLengths4, kMasks, kAlphaMasks = 6 };

class BmpReader {
 public:
  explicit BmpReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  Image read() {
    read_header();
    image_.rgb.resize(std::size_t{image_.width} * image_.height * 3);
    if (compression_ == kRunLengths8 || compression_ == kRunLengths4)
      read_runs();
    else
      read_rows();
    return std::move(image_);
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t n) const {
    if (at > bytes_.size() || n > bytes_.size() - at)
      throw std::runtime_error("the file ends before the picture does");
    std::uint32_t value = 0;
    for (std::size_t i = n; i-- > 0;) value = value << 8 | bytes_[at + i];
    return value;
  }

  void read_header() {
    const std::size_t header = number(kFileHeader, 4);
    pixels_at_ = number(10, 4);
    std::int64_t height = 0;
    std::size_t entry_bytes = 4, n_colours = 0;
    if (header == kCoreHeader) {
      image_.width = number(18, 2);
      height = number(20, 2);
      bits_ = number(24, 2);
      entry_bytes = 3;
    } else if (header >= kInfoHeader && header <= 256) {
      image_.width = number(18, 4);
      height = static_cast<std::int32_t>(number(22, 4));
      bits_ = number(28, 2);
      compression_ = number(30, 4);
      n_colours = number(46, 4);
    } else {
      throw std::runtime_error(fmt::format("a header of {} bytes", header));
    }
    is_from_top_ = height < 0;
    const auto n_rows = static_cast<std::uint64_t>(is_from_top_ ? -height : height);
    if (!fits(image_.width, n_rows))
      throw std::runtime_error(
          fmt::format("the picture has {} x {} pixels; expected at least one and at most {}",
                      image_.width, n_rows, kMaxPixels));
    image_.height = static_cast<std::uint32_t>(n_rows);
    check_kind();
    if (bits_ <= 8) read_palette(kFileHeader + header, entry_bytes, n_colours);
    if (compression_ == kMasks || compression_ == kAlphaMasks)
      for (std::size_t i = 0; i < 3; ++i) masks_[i] = number(kFileHeader + kInfoHeader + 4 * i, 4);
    else if (bits_ == 16)
      masks_ = {0x7C00, 0x3E0, 0x1F};
    check_masks();
  }

  void check_kind() const {
    const bool has_masks = compression_ == kMasks || compression_ == kAlphaMasks;
    const bool is_known =
        compression_ == kNone
            ? bits_ == 1 || bits_ == 4 || bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32
        : compression_ == kRunLengths8 ? bits_ == 8
        : compression_ == kRunLengths4 ? bits_ == 4
                                       : has_masks && (bits_ == 16 || bits_ == 32);
    if (!is_known)
      throw std::runtime_error(
          fmt::format("{} bits a pixel with compression {} are not read", bits_, compression_));
  }

  void read_palette(std::size_t at, std::size_t entry_bytes, std::size_t n_colours) {
    const std::size_t at_most = std::size_t{1} << bits_;
    if (n_colours == 0 || n_colours > at_most) n_colours = at_most;
    for (std::size_t i = 0; i < n_colours; ++i) palette_[i] = number(at + entry_bytes * i, 3);
  }

  void check_masks() const {
    if (bits_ != 16 && bits_ != 32) return;
    for (const std::uint32_t mask : masks_) {
      const auto n_bits = static_cast<unsigned>(std::popcount(mask));
      const std::uint32_t lowest = mask >> std::countr_zero(mask | 1u << 31);
      if (n_bits == 0 || n_bits > 8 || !std::has_single_bit(lowest + 1) || mask >> (bits_ - 1) > 1)
        throw std::runtime_error(fmt::format("a colour in the bits {:#010x}", mask));
    }
  }

  // Of row `row` of the file.
  std::uint8_t* out_row(std::size_t row) {
    const std::size_t y = is_from_top_ ? row : image_.height - 1 - row;
    return &image_.rgb[y * image_.width * 3];
  }
  // colour: 0x00RRGGBB.
  static void put(std::uint8_t* to, std::uint32_t colour) {
    for (std::size_t i = 0; i < 3; ++i) to[i] = static_cast<std::uint8_t>(colour >> (16 - 8 * i));
  }
  static std::uint32_t top_bits(std::uint32_t pixel, std::uint32_t mask) {
    return (pixel & mask) >> std::countr_zero(mask) << (8 - std::popcount(mask));
  }
  std::uint32_t masked(std::uint32_t pixel) const {
    return top_bits(pixel, masks_[0]) << 16 | top_bits(pixel, masks_[1]) << 8 |
           top_bits(pixel, masks_[2]);
  }

  void read_rows() {
    const std::size_t row_bytes = (std::size_t{image_.width} * bits_ + 31) / 32 * 4;
    // The last row of some files has no padding.
    const std::size_t least = (std::size_t{image_.width} * bits_ + 7) / 8;
    if (pixels_at_ > bytes_.size() ||
        row_bytes * (image_.height - 1) + least > bytes_.size() - pixels_at_)
      throw std::runtime_error("the file ends before the picture does");
    for (std::size_t row = 0; row < image_.height; ++row) {
      const std::uint8_t* from = &bytes_[pixels_at_ + row * row_bytes];
      std::uint8_t* to = out_row(row);
      for (std::size_t x = 0; x < image_.width; ++x, to += 3) put(to, colour(from, x));
    }
  }
  std::uint32_t colour(const std::uint8_t* row, std::size_t x) const {
    if (bits_ <= 8) {
      const std::size_t bit = x * bits_;
      const unsigned shift = static_cast<unsigned>(8 - bits_ - bit % 8);
      return palette_[row[bit / 8] >> shift & ((1u << bits_) - 1)];
    }
    const std::uint8_t* from = row + x * (bits_ / 8);
    if (bits_ == 24) return from[0] | from[1] << 8 | from[2] << 16;
    if (bits_ == 16) return masked(static_cast<std::uint32_t>(from[0] | from[1] << 8));
    return masked(from[0] | from[1] << 8 | from[2] << 16 | std::uint32_t{from[3]} << 24);
  }

  // Pixels that no run reaches have the palette's first colour.
  void read_runs() {
    for (std::size_t row = 0; row < image_.height; ++row)
      for (std::size_t x = 0; x < image_.width; ++x) put(out_row(row) + 3 * x, palette_[0]);
    at_ = pixels_at_;
    while (row_ < image_.height) {
      const std::uint32_t n = next(), value = next();
      if (n > 0) {
        for (std::uint32_t i = 0; i < n; ++i) put_index(bits_ == 8 ? value : nibble(value, i));
      } else if (value == 0) {
        x_ = 0;
        ++row_;
      } else if (value == 1) {
        return;
      } else if (value == 2) {
        x_ += next();
        row_ += next();
      } else {
        read_literals(value);
      }
    }
  }
  void read_literals(std::uint32_t n) {
    const std::size_t n_bytes = bits_ == 8 ? n : (n + 1) / 2;
    std::uint32_t byte = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (bits_ == 8 || i % 2 == 0) byte = next();
      put_index(bits_ == 8 ? byte : nibble(byte, i));
    }
    at_ += n_bytes % 2;
  }
  static std::uint32_t nibble(std::uint32_t byte, std::uint32_t i) {
    return i % 2 == 0 ? byte >> 4 : byte & 15;
  }
  std::uint32_t next() { return number(at_++, 1); }
  void put_index(std::uint32_t index) {
    if (row_ >= image_.height || x_ >= image_.width)
      throw std::runtime_error("a run goes beyond the picture");
    put(out_row(row_) + 3 * x_++, palette_[index]);
  }

  std::span<const std::uint8_t> bytes_;
  Image image_;
  std::size_t pixels_at_ = 0;
  std::uint32_t bits_ = 0, compression_ = kNone;
  bool is_from_top_ = false;
  std::array<std::uint32_t, 256> palette_{};
  std::array<std::uint32_t, 3> masks_{0xFF0000, 0xFF00, 0xFF};  // red, green, blue
  std::size_t at_ = 0, row_ = 0, x_ = 0;                        // of run lengths
};

}  // namespace

Image decode_bmp(std::span<const std::uint8_t> bytes) { return BmpReader(bytes).read(); }

}  // namespace biogpu::io::images
