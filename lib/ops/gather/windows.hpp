#pragma once

#include <cstdint>
#include <vector>

// Rows that gather_rows brings together for attention in windows, for patches and for merged
// patches. A row of -1, which gives zeros, lies outside.
namespace biogpu::ops {

// n_images images of height x width rows, one after the other.
struct ImageGrid {
  std::int64_t n_images, height, width;
};

// Windows of `size` x `size` rows of every image, which is filled up with rows of -1 below and to
// the right to whole windows and then rolled `shift` rows up and to the left. (Liu et al. 2021,
// Swin Transformer, arXiv 2103.14030)
struct ImageWindows {
  ImageGrid grid;
  std::int64_t size, shift = 0;

  std::int64_t down() const { return (grid.height + size - 1) / size; }
  std::int64_t across() const { return (grid.width + size - 1) / size; }
  std::int64_t n_rows() const { return grid.n_images * down() * across() * size * size; }
};

// [n_images * down * across, size * size]: the image's row of every place, windows and places of a
// window by rows.
std::vector<std::int32_t> window_rows(const ImageWindows& windows);
// [n_images * height * width]: the place that each row of the images has in window_rows().
std::vector<std::int32_t> window_places(const ImageWindows& windows);
// [down * across, size * size, size * size]: `value` for two places of a window that the roll
// brought together from opposite sides, 0 for others. Of shift 0: zeros.
std::vector<float> window_mask(const ImageWindows& windows, float value);

// [n_images, ceil(height / size), ceil(width / size), n_planes, size, size]: the pixels of every
// patch, of images [n_images, n_planes, height, width] of one number a pixel; with one plane of
// rows of C numbers, those of images [n_images, height, width, C].
std::vector<std::int32_t> patch_rows(const ImageGrid& grid, std::int64_t size,
                                     std::int64_t n_planes = 1);
// [n_images, ceil(height / 2), ceil(width / 2), 4]: each 2 x 2 rows by columns, as Swin's patch
// merging concatenates them: (0, 0), (1, 0), (0, 1), (1, 1).
std::vector<std::int32_t> merged_patch_rows(const ImageGrid& grid);

// Blocks of n_queries rows of a sequence, each with n_keys rows that begin `before` rows ahead of
// it. AlphaFold 3's atoms: 32, 128 and 48. (Abramson et al. 2024, doi 10.1038/s41586-024-07487-w)
struct SequenceWindows {
  std::int64_t length, n_queries, n_keys, before;

  std::int64_t n_windows() const { return (length + n_queries - 1) / n_queries; }
};

// [n_windows, n_queries] and [n_windows, n_keys].
std::vector<std::int32_t> window_query_rows(const SequenceWindows& windows);
std::vector<std::int32_t> window_key_rows(const SequenceWindows& windows);

// 1 where there is a row, 0 where it is -1: a key mask.
std::vector<std::uint8_t> mask_of_rows(const std::vector<std::int32_t>& rows);

}  // namespace biogpu::ops
