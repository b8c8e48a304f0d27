#include "lib/ops/gather/windows.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using ops::ImageGrid;
using ops::ImageWindows;
using ops::SequenceWindows;

namespace {

// A padded, rolled image of row numbers cut into windows, step by step as the paper's code does.
std::vector<std::int32_t> rolled_windows(const ImageWindows& w) {
  const std::int64_t height = w.down() * w.size, width = w.across() * w.size;
  std::vector<std::int32_t> all;
  for (std::int64_t image = 0; image < w.grid.n_images; ++image) {
    std::vector<std::int32_t> padded(static_cast<std::size_t>(height * width), -1);
    for (std::int64_t y = 0; y < w.grid.height; ++y)
      for (std::int64_t x = 0; x < w.grid.width; ++x)
        padded[static_cast<std::size_t>(y * width + x)] =
            static_cast<std::int32_t>((image * w.grid.height + y) * w.grid.width + x);
    // Rows up, then columns to the left, each by moving what is first to the end.
    std::rotate(padded.begin(), padded.begin() + w.shift * width, padded.end());
    for (auto row = padded.begin(); row != padded.end(); row += width)
      std::rotate(row, row + w.shift, row + width);
    for (std::int64_t top = 0; top < height; top += w.size)
      for (std::int64_t left = 0; left < width; left += w.size)
        for (std::int64_t y = top; y < top + w.size; ++y)
          for (std::int64_t x = left; x < left + w.size; ++x)
            all.push_back(padded[static_cast<std::size_t>(y * width + x)]);
  }
  return all;
}

// Whether a place of a rolled axis was moved there from the other side.
bool wraps(std::int64_t place, std::int64_t length, std::int64_t shift) {
  return place + shift >= length;
}

}  // namespace

TEST_CASE("ops.windows: rows of image windows are those of a rolled image", "[ops]") {
  const ImageGrid grid = GENERATE(ImageGrid{1, 8, 8}, ImageGrid{2, 8, 12}, ImageGrid{2, 7, 9},
                                  ImageGrid{1, 4, 4}, ImageGrid{3, 1, 1}, ImageGrid{0, 8, 8});
  const std::int64_t shift = GENERATE(0, 1, 2);
  const ImageWindows windows{grid, 4, shift};
  const std::vector<std::int32_t> rows = ops::window_rows(windows);
  CHECK(rows == rolled_windows(windows));
  CHECK(static_cast<std::int64_t>(rows.size()) == windows.n_rows());
  const std::vector<std::int32_t> places = ops::window_places(windows);
  CHECK(static_cast<std::int64_t>(places.size()) == grid.n_images * grid.height * grid.width);
  for (std::size_t row = 0; row < places.size(); ++row)
    CHECK(rows[static_cast<std::size_t>(places[row])] == static_cast<std::int32_t>(row));
}

TEST_CASE("ops.windows: a mask parts what the roll brought together", "[ops]") {
  const ImageGrid grid =
      GENERATE(ImageGrid{1, 12, 8}, ImageGrid{1, 4, 4}, ImageGrid{1, 7, 9}, ImageGrid{1, 4, 12});
  const std::int64_t size = 4, n = size * size, shift = GENERATE(0, 1, 2);
  const ImageWindows windows{grid, size, shift};
  const std::vector<float> mask = ops::window_mask(windows, -100);
  const std::int64_t height = windows.down() * size, width = windows.across() * size;
  REQUIRE(static_cast<std::int64_t>(mask.size()) == windows.down() * windows.across() * n * n);
  std::size_t at = 0, n_wrong = 0, n_apart = 0;
  for (std::int64_t window = 0; window < windows.down() * windows.across(); ++window)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto y = [&](std::int64_t k) { return window / windows.across() * size + k / size; };
        const auto x = [&](std::int64_t k) { return window % windows.across() * size + k % size; };
        const bool apart = wraps(y(i), height, shift) != wraps(y(j), height, shift) ||
                           wraps(x(i), width, shift) != wraps(x(j), width, shift);
        n_apart += apart ? 1 : 0;
        n_wrong += mask[at++] == (apart ? -100.0f : 0.0f) ? 0 : 1;
      }
  CHECK(n_wrong == 0);
  CHECK((n_apart > 0) == (shift > 0));
}

TEST_CASE("ops.windows: patches of pixels, planes and merged patches", "[ops]") {
  using Numbers = std::vector<std::int32_t>;
  // 2 x 3 pixels in patches of 2: the second patch has one column.
  CHECK(ops::patch_rows({1, 2, 3}, 2) == Numbers{0, 1, 3, 4, 2, -1, 5, -1});
  // Two planes of the same: the first patch has its pixels of both.
  CHECK(ops::patch_rows({1, 2, 3}, 2, 2) ==
        Numbers{0, 1, 3, 4, 6, 7, 9, 10, 2, -1, 5, -1, 8, -1, 11, -1});
  // x[0::2, 0::2], x[1::2, 0::2], x[0::2, 1::2], x[1::2, 1::2] of 4 x 2 images.
  CHECK(ops::merged_patch_rows({2, 4, 2}) ==
        Numbers{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15});
  CHECK(ops::merged_patch_rows({1, 1, 3}) == Numbers{0, -1, 1, -1, 2, -1, -1, -1});
  CHECK(ops::patch_rows({0, 4, 4}, 2).empty());
}

TEST_CASE("ops.windows: every block of a sequence has its keys around it", "[ops]") {
  const std::int64_t length = GENERATE(0, 1, 31, 32, 33, 100, 200);
  const SequenceWindows windows{length, 32, 128, 48};
  const std::vector<std::int32_t> queries = ops::window_query_rows(windows),
                                  keys = ops::window_key_rows(windows);
  CHECK(static_cast<std::int64_t>(keys.size()) == 128 * windows.n_windows());
  CHECK(static_cast<std::int64_t>(queries.size()) == 32 * windows.n_windows());
  // Every row is a query once, in order.
  std::vector<std::int32_t> rows, wanted(static_cast<std::size_t>(length));
  std::copy_if(queries.begin(), queries.end(), std::back_inserter(rows),
               [](std::int32_t row) { return row >= 0; });
  std::iota(wanted.begin(), wanted.end(), 0);
  CHECK(rows == wanted);
  for (std::int64_t w = 0; w < windows.n_windows(); ++w)
    for (std::int64_t j = 0; j < 128; ++j) {
      const std::int64_t row = 32 * w - 48 + j;
      CHECK(keys[static_cast<std::size_t>(128 * w + j)] == (row < 0 || row >= length ? -1 : row));
    }
  const std::vector<std::uint8_t> mask = ops::mask_of_rows(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK((mask[i] != 0) == (keys[i] >= 0));
}

namespace {

constexpr std::int64_t kLength = 21, kHead = 8, kHeads = 2, kWidth = kHeads * kHead;
constexpr SequenceWindows kWindows{kLength, 4, 12, 5};

// Attention of query i over the rows of its own window, in double precision; of zeros where there
// is no row i.
std::vector<float> attend_window(const test::Pair& q, const test::Pair& k, const test::Pair& v,
                                 std::int64_t i) {
  std::vector<float> out(static_cast<std::size_t>(kWidth));
  const std::int64_t first = i / 4 * 4 - 5, begin = std::max<std::int64_t>(0, first),
                     end = std::min(kLength, first + 12);
  for (std::int64_t head = 0; head < kHeads; ++head) {
    std::vector<double> weights;
    for (std::int64_t j = begin; j < end; ++j) {
      double logit = 0;
      for (std::int64_t e = head * kHead; e < (head + 1) * kHead && i < kLength; ++e)
        logit += 0.5 * static_cast<double>(q.host.row<float>(i)[e]) * k.host.row<float>(j)[e];
      weights.push_back(std::exp(logit));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::int64_t e = head * kHead; e < (head + 1) * kHead; ++e) {
      double y = 0;
      for (std::int64_t j = begin; j < end; ++j)
        y += weights[static_cast<std::size_t>(j - begin)] / sum *
             static_cast<double>(v.host.row<float>(j)[e]);
      out[static_cast<std::size_t>(e)] = static_cast<float>(y);
    }
  }
  return out;
}

tensor::Tensor in_windows(const tensor::Tensor& x, std::int64_t size) {
  return {x.data, x.dtype, {x.shape[0] / size, size, kHeads, kHead}};
}

}  // namespace

TEST_CASE("ops.windows: attention in windows of a sequence", "[ops]") {
  test::Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n = kWindows.n_windows();
  const test::Pair q = bed.random({kLength, kWidth}, 1, true),
                   k = bed.random({kLength, kWidth}, 1, true),
                   v = bed.random({kLength, kWidth}, 1, true);
  const std::vector<std::int32_t> key_rows = ops::window_key_rows(kWindows);
  const test::Indices query_index = bed.indices(ops::window_query_rows(kWindows)),
                      key_index = bed.indices(key_rows);
  const std::vector<std::uint8_t> mask = ops::mask_of_rows(key_rows);
  const tensor::Tensor keys(bed.device().allocate(mask.size()), tensor::DType::u8, {n, 12});
  bed.device().copy_in(keys, mask.data());
  const test::Pair q_windows = bed.unset({n * 4, kWidth}, true),
                   k_windows = bed.unset({n * 12, kWidth}, true),
                   v_windows = bed.unset({n * 12, kWidth}, true);
  test::Pair out = bed.unset({n * 4, kWidth}, true);
  ops::gather_rows(bed.device(), {q.device, query_index.device, q_windows.device});
  ops::gather_rows(bed.device(), {k.device, key_index.device, k_windows.device});
  ops::gather_rows(bed.device(), {v.device, key_index.device, v_windows.device});
  ops::DotProductAttention op;
  op.q = in_windows(q_windows.device, 4);
  op.k = in_windows(k_windows.device, 12);
  op.v = in_windows(v_windows.device, 12);
  op.scale = 0.5f;
  op.key_mask = keys;
  op.masked_value = -1e9f;
  op.out = in_windows(out.device, 4);
  ops::dot_product_attention(bed.device(), op);
  out.values.clear();
  for (std::int64_t i = 0; i < n * 4; ++i)
    for (const float x : attend_window(q, k, v, i)) out.values.push_back(x);
  CHECK(bed.difference(out) < (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
}
