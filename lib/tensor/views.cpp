#include "lib/tensor/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::tensor {
namespace {

void require(bool holds, const char* view, const Tensor& x, const std::string& what) {
  if (!holds) throw Error(ErrorCode::failed, fmt::format("{} of {}: {}", view, describe(x), what));
}

void require_axis(const char* view, const Tensor& x, int axis, int n_axes) {
  require(axis >= 0 && axis < n_axes, view, x, fmt::format("there is no axis {}", axis));
}

// Room for an axis before `axis`.
Tensor inserted(const char* view, const Tensor& x, int axis) {
  require(x.rank < kMaxRank, view, x, fmt::format("a tensor has at most {} axes", kMaxRank));
  Tensor y = x;
  ++y.rank;
  for (auto i = static_cast<std::size_t>(x.rank); i > static_cast<std::size_t>(axis); --i) {
    y.shape[i] = x.shape[i - 1];
    y.stride[i] = x.stride[i - 1];
  }
  return y;
}

}  // namespace

Tensor permuted(const Tensor& x, std::initializer_list<int> axes) {
  require(static_cast<int>(axes.size()) == x.rank, "permuted", x,
          fmt::format("an order of {} axes", axes.size()));
  Tensor y = x;
  std::array<bool, kMaxRank> seen{};
  std::size_t to = 0;
  for (const int axis : axes) {
    require_axis("permuted", x, axis, x.rank);
    const auto from = static_cast<std::size_t>(axis);
    require(!std::exchange(seen[from], true), "permuted", x, fmt::format("axis {} twice", axis));
    y.shape[to] = x.shape[from];
    y.stride[to++] = x.stride[from];
  }
  return y;
}

Tensor transposed(const Tensor& x) {
  require(x.rank >= 2, "transposed", x, "expected two axes or more");
  Tensor y = x;
  const auto last = static_cast<std::size_t>(x.rank) - 1;
  std::swap(y.shape[last], y.shape[last - 1]);
  std::swap(y.stride[last], y.stride[last - 1]);
  return y;
}

Tensor split_axis(const Tensor& x, int axis, std::int64_t inner) {
  require_axis("split_axis", x, axis, x.rank);
  const auto a = static_cast<std::size_t>(axis);
  require(inner > 0 && x.shape[a] % inner == 0, "split_axis", x,
          fmt::format("axis {} is not a multiple of {}", axis, inner));
  Tensor y = inserted("split_axis", x, axis);
  y.shape[a] = x.shape[a] / inner;
  y.stride[a] = x.stride[a] * inner;
  y.shape[a + 1] = inner;
  return y;
}

Tensor merge_axes(const Tensor& x, int axis) {
  require_axis("merge_axes", x, axis, x.rank - 1);
  const auto a = static_cast<std::size_t>(axis);
  const bool one_stride =
      x.shape[a] == 1 || x.shape[a + 1] == 1 || x.stride[a] == x.stride[a + 1] * x.shape[a + 1];
  require(one_stride, "merge_axes", x,
          fmt::format("strides {} and {} of axes {} and {} do not follow from each other",
                      x.stride[a], x.stride[a + 1], axis, axis + 1));
  Tensor y = x;
  y.shape[a] = x.shape[a] * x.shape[a + 1];
  if (x.shape[a + 1] != 1) y.stride[a] = x.stride[a + 1];
  for (std::size_t i = a + 1; i + 1 < static_cast<std::size_t>(x.rank); ++i) {
    y.shape[i] = x.shape[i + 1];
    y.stride[i] = x.stride[i + 1];
  }
  --y.rank;
  return y;
}

Tensor repeated(const Tensor& x, int axis, std::int64_t n) {
  require_axis("repeated", x, axis, x.rank + 1);
  Tensor y = inserted("repeated", x, axis);
  const auto a = static_cast<std::size_t>(axis);
  y.shape[a] = n;
  y.stride[a] = 0;
  return y;
}

}  // namespace biogpu::tensor
