#include "lib/ops/gather/windows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::ops {
namespace {

constexpr std::int32_t kOutside = -1;

void require_rows(std::int64_t n) {
  if (n > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::failed,
                "windows of more than 2147483647 rows; expected a smaller batch");
}

std::int32_t row_in(const ImageGrid& grid, std::int64_t image, std::int64_t y, std::int64_t x) {
  if (y >= grid.height || x >= grid.width) return kOutside;
  return static_cast<std::int32_t>((image * grid.height + y) * grid.width + x);
}

// Which part of an axis of a rolled image a place lies in: two parts of one window come from
// opposite sides.
int in_part(std::int64_t place, std::int64_t length, const ImageWindows& windows) {
  return place < length - windows.size ? 0 : place < length - windows.shift ? 1 : 2;
}

std::vector<std::int32_t> range_rows(const SequenceWindows& windows, std::int64_t n,
                                     std::int64_t before) {
  require_rows(windows.n_windows() * n);
  std::vector<std::int32_t> rows;
  for (std::int64_t w = 0; w < windows.n_windows(); ++w)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = w * windows.n_queries - before + i;
      const bool inside = row >= 0 && row < windows.length;
      rows.push_back(inside ? static_cast<std::int32_t>(row) : kOutside);
    }
  return rows;
}

}  // namespace

std::vector<std::int32_t> window_rows(const ImageWindows& windows) {
  require_rows(windows.n_rows());
  const std::int64_t size = windows.size, height = windows.down() * size,
                     width = windows.across() * size;
  std::vector<std::int32_t> rows;
  rows.reserve(static_cast<std::size_t>(windows.n_rows()));
  for (std::int64_t image = 0; image < windows.grid.n_images; ++image)
    for (std::int64_t top = 0; top < height; top += size)
      for (std::int64_t left = 0; left < width; left += size)
        for (std::int64_t i = 0; i < size * size; ++i)
          rows.push_back(row_in(windows.grid, image, (top + i / size + windows.shift) % height,
                                (left + i % size + windows.shift) % width));
  return rows;
}

std::vector<std::int32_t> window_places(const ImageWindows& windows) {
  const std::vector<std::int32_t> rows = window_rows(windows);
  const ImageGrid& grid = windows.grid;
  std::vector<std::int32_t> places(
      static_cast<std::size_t>(grid.n_images * grid.height * grid.width));
  for (std::size_t place = 0; place < rows.size(); ++place)
    if (rows[place] != kOutside)
      places[static_cast<std::size_t>(rows[place])] = static_cast<std::int32_t>(place);
  return places;
}

std::vector<float> window_mask(const ImageWindows& windows, float value) {
  const std::int64_t size = windows.size, n = size * size;
  std::vector<float> mask(static_cast<std::size_t>(windows.down() * windows.across() * n * n));
  if (windows.shift == 0) return mask;
  const auto label = [&](std::int64_t window, std::int64_t i) {
    const std::int64_t y = window / windows.across() * size + i / size,
                       x = window % windows.across() * size + i % size;
    return 3 * in_part(y, windows.down() * size, windows) +
           in_part(x, windows.across() * size, windows);
  };
  for (std::size_t at = 0; at < mask.size(); ++at) {
    const std::int64_t pair = static_cast<std::int64_t>(at) % (n * n);
    const std::int64_t window = static_cast<std::int64_t>(at) / (n * n);
    if (label(window, pair / n) != label(window, pair % n)) mask[at] = value;
  }
  return mask;
}

std::vector<std::int32_t> patch_rows(const ImageGrid& grid, std::int64_t size,
                                     std::int64_t n_planes) {
  const std::int64_t down = (grid.height + size - 1) / size,
                     across = (grid.width + size - 1) / size;
  require_rows(grid.n_images * n_planes * down * across * size * size);
  std::vector<std::int32_t> rows;
  for (std::int64_t patch = 0; patch < grid.n_images * down * across; ++patch) {
    const std::int64_t image = patch / (down * across), top = patch / across % down * size,
                       left = patch % across * size;
    for (std::int64_t plane = 0; plane < n_planes; ++plane)
      for (std::int64_t i = 0; i < size * size; ++i)
        rows.push_back(row_in(grid, image * n_planes + plane, top + i / size, left + i % size));
  }
  return rows;
}

std::vector<std::int32_t> merged_patch_rows(const ImageGrid& grid) {
  std::vector<std::int32_t> rows = patch_rows(grid, 2);  // by rows: (0, 0), (0, 1), (1, 0), (1, 1)
  for (std::size_t i = 0; i < rows.size(); i += 4) std::swap(rows[i + 1], rows[i + 2]);
  return rows;
}

std::vector<std::int32_t> window_query_rows(const SequenceWindows& windows) {
  return range_rows(windows, windows.n_queries, 0);
}

std::vector<std::int32_t> window_key_rows(const SequenceWindows& windows) {
  return range_rows(windows, windows.n_keys, windows.before);
}

std::vector<std::uint8_t> mask_of_rows(const std::vector<std::int32_t>& rows) {
  std::vector<std::uint8_t> mask(rows.size());
  std::transform(rows.begin(), rows.end(), mask.begin(), [](std::int32_t row) {
    return static_cast<std::uint8_t>(row == kOutside ? 0 : 1);
  });
  return mask;
}

}  // namespace biogpu::ops
