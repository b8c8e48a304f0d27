#include "lib/models/layers/patch_embed.hpp"

#include "lib/ops/gather/windows.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

struct PatchCase {
  std::int64_t n_images, height, width, n_channels, patch, n_out;
  bool planes;  // [images, C, H, W], else [images, H, W, C]

  std::int64_t pixel(std::int64_t image, std::int64_t channel, std::int64_t y,
                     std::int64_t x) const {
    return planes ? ((image * n_channels + channel) * height + y) * width + x
                  : ((image * height + y) * width + x) * n_channels + channel;
  }
  std::int64_t tap(std::int64_t channel, std::int64_t row, std::int64_t column) const {
    return planes ? (channel * patch + row) * patch + column
                  : (row * patch + column) * n_channels + channel;
  }
};

// Output o of the patch at (top, left), by the definition of a convolution in double precision;
// zeros outside.
double convolve(const PatchCase& c, const Pair& pixels, const test::LinearPair& linear,
                std::int64_t image, std::int64_t top, std::int64_t left, std::int64_t o) {
  double sum = linear.bias.values[static_cast<std::size_t>(o)];
  for (std::int64_t y = top; y < std::min(top + c.patch, c.height); ++y)
    for (std::int64_t x = left; x < std::min(left + c.patch, c.width); ++x)
      for (std::int64_t channel = 0; channel < c.n_channels; ++channel)
        sum += static_cast<double>(
                   pixels.values[static_cast<std::size_t>(c.pixel(image, channel, y, x))]) *
               linear.weight.host.row<float>(o)[c.tap(channel, y - top, x - left)];
  return sum;
}

}  // namespace

TEST_CASE("models.patch_embed: a convolution whose stride is its kernel", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const PatchCase c =
      GENERATE(PatchCase{2, 12, 16, 3, 4, 24, false}, PatchCase{2, 12, 16, 3, 4, 24, true},
               PatchCase{1, 10, 7, 1, 4, 8, true}, PatchCase{1, 10, 7, 5, 2, 9, false},
               PatchCase{0, 8, 8, 3, 4, 8, false});
  const std::int64_t n_pixels = c.n_images * c.height * c.width,
                     width = c.n_channels * c.patch * c.patch;
  const Pair pixels = c.planes ? bed.random({n_pixels * c.n_channels, 1}, 1, true)
                               : bed.random({n_pixels, c.n_channels}, 1, true);
  const test::LinearPair linear = bed.linear(c.n_out, width);
  const test::Indices rows = bed.indices(
      ops::patch_rows({c.n_images, c.height, c.width}, c.patch, c.planes ? c.n_channels : 1));
  const auto n_patches = static_cast<std::int64_t>(rows.values.size()) * c.n_channels /
                         (c.planes ? c.n_channels : 1) / width;
  const Pair patches = bed.unset({n_patches, width}, true);
  Pair out = bed.unset({n_patches, c.n_out}, false);
  models::patch_embed(bed.device(),
                      {pixels.device, rows.device, &linear.device, patches.device, out.device});
  out.values.clear();
  for (std::int64_t image = 0; image < c.n_images; ++image)
    for (std::int64_t top = 0; top < c.height; top += c.patch)
      for (std::int64_t left = 0; left < c.width; left += c.patch)
        for (std::int64_t o = 0; o < c.n_out; ++o)
          out.values.push_back(
              static_cast<float>(convolve(c, pixels, linear, image, top, left, o)));
  REQUIRE(static_cast<std::int64_t>(out.values.size()) == n_patches * c.n_out);
  if (out.values.empty()) return;
  CHECK(bed.difference(out) < (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
}
