#include "lib/models/molscribe/preprocess.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace biogpu::models::molscribe {
namespace {

using io::images::Image;

constexpr std::size_t kPad = 5;
constexpr int kWeightBits = 11;  // OpenCV's INTER_RESIZE_COEF_BITS

bool is_ink(const std::uint8_t* pixel) {
  return pixel[0] != 255 || pixel[1] != 255 || pixel[2] != 255;
}

struct Frame {
  std::size_t top, bottom, left, right;  // half open
};

Frame ink_frame(const Image& image) {
  Frame frame{image.height, 0, image.width, 0};
  for (std::size_t y = 0; y < image.height; ++y) {
    const std::uint8_t* const row = &image.rgb[y * image.width * 3];
    for (std::size_t x = 0; x < image.width; ++x) {
      if (!is_ink(row + 3 * x)) continue;
      frame.top = std::min(frame.top, y);
      frame.bottom = y + 1;
      frame.left = std::min(frame.left, x);
      frame.right = std::max(frame.right, x + 1);
    }
  }
  if (frame.bottom == 0) return {0, image.height, 0, image.width};
  return frame;
}

Image cropped(const Image& image, const Frame& frame) {
  Image out{static_cast<std::uint32_t>(frame.right - frame.left + 2 * kPad),
            static_cast<std::uint32_t>(frame.bottom - frame.top + 2 * kPad),
            {}};
  out.rgb.assign(std::size_t{3} * out.width * out.height, 255);
  for (std::size_t y = frame.top; y < frame.bottom; ++y)
    std::copy_n(&image.rgb[(y * image.width + frame.left) * 3], (frame.right - frame.left) * 3,
                &out.rgb[((y - frame.top + kPad) * out.width + kPad) * 3]);
  return out;
}

// Two taps of a pixel along one axis, with weights that add up to 2^kWeightBits.
struct Taps {
  std::size_t first, second;
  int first_weight, second_weight;
};

std::vector<Taps> make_taps(std::size_t n_in, std::size_t n_out) {
  const double scale = static_cast<double>(n_in) / static_cast<double>(n_out);
  const auto place = [&](std::int64_t i) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, std::int64_t(n_in) - 1));
  };
  std::vector<Taps> taps(n_out);
  for (std::size_t i = 0; i < n_out; ++i) {
    auto offset = static_cast<float>((static_cast<double>(i) + 0.5) * scale - 0.5);
    const auto first = static_cast<std::int64_t>(std::floor(offset));
    offset -= static_cast<float>(first);
    constexpr float kOne = 1 << kWeightBits;
    taps[i] = {place(first), place(first + 1),
               static_cast<int>(std::nearbyint((1.0f - offset) * kOne)),
               static_cast<int>(std::nearbyint(offset * kOne))};
  }
  return taps;
}

// f(row, column, colours): three colours of each pixel of the scaled picture.
template <class F>
void scale_bilinear(const Image& image, std::size_t size, const F& f) {
  const std::vector<Taps> across = make_taps(image.width, size),
                          down = make_taps(image.height, size);
  const std::size_t row_bytes = std::size_t{3} * image.width;
  const auto horizontal = [&](std::size_t y, std::vector<int>& to) {
    const std::uint8_t* const row = &image.rgb[y * row_bytes];
    for (std::size_t x = 0; x < size; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        to[3 * x + c] = row[3 * across[x].first + c] * across[x].first_weight +
                        row[3 * across[x].second + c] * across[x].second_weight;
  };
  std::vector<int> upper(3 * size), lower(3 * size);
  for (std::size_t y = 0; y < size; ++y) {
    horizontal(down[y].first, upper);
    horizontal(down[y].second, lower);
    for (std::size_t x = 0; x < size; ++x) {
      int colours[3];
      for (std::size_t c = 0; c < 3; ++c)
        colours[c] = (((down[y].first_weight * (upper[3 * x + c] >> 4)) >> 16) +
                      ((down[y].second_weight * (lower[3 * x + c] >> 4)) >> 16) + 2) >>
                     2;
      f(y, x, colours);
    }
  }
}

// The same where one pixel is made of 2 x 2: OpenCV takes their mean.
template <class F>
void halve(const Image& image, std::size_t size, const F& f) {
  const std::size_t row_bytes = std::size_t{3} * image.width;
  for (std::size_t y = 0; y < size; ++y)
    for (std::size_t x = 0; x < size; ++x) {
      int colours[3];
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint8_t* const from = &image.rgb[2 * y * row_bytes + 6 * x + c];
        colours[c] = (from[0] + from[3] + from[row_bytes] + from[row_bytes + 3] + 2) >> 2;
      }
      f(y, x, colours);
    }
}

template <class F>
void copy(const Image& image, std::size_t size, const F& f) {
  for (std::size_t y = 0; y < size; ++y)
    for (std::size_t x = 0; x < size; ++x) {
      const std::uint8_t* const from = &image.rgb[(y * size + x) * 3];
      const int colours[3] = {from[0], from[1], from[2]};
      f(y, x, colours);
    }
}

}  // namespace

PreparedImage prepare_image(const Image& image, std::int64_t side) {
  const auto size = static_cast<std::size_t>(side);
  PreparedImage out;
  out.width = image.width;
  out.height = image.height;
  out.gray.resize(size * size);
  const auto put = [&](std::size_t y, std::size_t x, const int* colours) {
    out.gray[y * size + x] = static_cast<std::uint8_t>(
        (9798 * colours[0] + 19235 * colours[1] + 3735 * colours[2] + 16384) >> 15);
  };
  const Frame frame = ink_frame(image);
  const Image whole = cropped(image, frame);
  out.left = static_cast<double>(frame.left) - kPad;
  out.top = static_cast<double>(frame.top) - kPad;
  out.cut_width = whole.width;
  out.cut_height = whole.height;
  if (whole.width == size && whole.height == size)
    copy(whole, size, put);
  else if (whole.width == 2 * size && whole.height == 2 * size)
    halve(whole, size, put);
  else
    scale_bilinear(whole, size, put);
  return out;
}

}  // namespace biogpu::models::molscribe
