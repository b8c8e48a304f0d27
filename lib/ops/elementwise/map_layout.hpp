#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/ops/elementwise/map.hpp"

namespace biogpu::ops {

// The axes of a Map, as few as the strides of all its tensors allow: a chain of contiguous tensors
// is one row. The last axis is that of the rows; its strides are 1, or 0 where it is repeated.
struct MapLayout {
  static constexpr std::size_t kOut = Map::kMaxInputs;
  using Axes = std::array<std::int64_t, tensor::kMaxRank>;

  int rank = 0;  // at least 1
  Axes shape{};
  std::array<Axes, Map::kMaxInputs + 1> stride{};         // of the inputs, then of out
  std::array<std::int64_t, Map::kMaxInputs> n_columns{};  // of an input's rows, repeated or not

  std::int64_t row_length() const { return shape[static_cast<std::size_t>(rank - 1)]; }
  std::int64_t n_rows() const {
    std::int64_t n = 1;
    for (int i = 0; i + 1 < rank; ++i) n *= shape[static_cast<std::size_t>(i)];
    return n;
  }
  std::int64_t row_stride(std::size_t tensor) const {
    return stride[tensor][static_cast<std::size_t>(rank - 1)];
  }
};

// The stride of a tensor along axis i of out; 0 where it is repeated.
inline std::int64_t map_stride(const Tensor& x, const Tensor& out, int i) {
  const int own = i - (out.rank - x.rank);
  if (own < 0) return 0;
  const auto a = static_cast<std::size_t>(own);
  const bool one_of_one = out.shape[static_cast<std::size_t>(i)] == 1;
  if (i == out.rank - 1 && one_of_one) return 1;
  return x.shape[a] == 1 && !one_of_one ? 0 : x.stride[a];
}

inline MapLayout map_layout(const Map& op) {
  MapLayout to;
  const auto n_inputs = static_cast<std::size_t>(op.n_inputs);
  const int last = op.out.rank - 1;
  const auto row = op.out.shape[static_cast<std::size_t>(last)];
  bool whole_rows = true;  // no input has shorter ones
  for (std::size_t k = 0; k < n_inputs; ++k) {
    const MapInput& input = op.inputs[k];
    to.n_columns[k] =
        input.zeros_behind ? input.x.shape[static_cast<std::size_t>(input.x.rank - 1)] : row;
    whole_rows &= to.n_columns[k] == row;
  }
  const auto tensor = [&](std::size_t k) -> const Tensor& {
    return k == MapLayout::kOut ? op.out : op.inputs[k].x;
  };
  const auto for_tensors = [&](const auto& body) {
    for (std::size_t k = 0; k < n_inputs; ++k) body(k);
    body(MapLayout::kOut);
  };
  const auto stride_of = [&](std::size_t k, int i) {
    if (k != MapLayout::kOut && op.inputs[k].zeros_behind && i == last) return std::int64_t{1};
    return map_stride(tensor(k), op.out, i);
  };
  for (int i = 0; i <= last; ++i) {
    const std::int64_t extent = op.out.shape[static_cast<std::size_t>(i)];
    if (i < last && extent == 1) continue;
    bool joins = to.rank > 0 && (i < last || whole_rows);
    for_tensors([&](std::size_t k) {
      if (to.rank == 0) return;
      joins &= to.stride[k][static_cast<std::size_t>(to.rank - 1)] == stride_of(k, i) * extent;
    });
    if (!joins) ++to.rank;
    const auto at = static_cast<std::size_t>(to.rank - 1);
    to.shape[at] = joins ? to.shape[at] * extent : extent;
    for_tensors([&](std::size_t k) { to.stride[k][at] = stride_of(k, i); });
  }
  if (whole_rows) to.n_columns.fill(to.row_length());
  return to;
}

}  // namespace biogpu::ops
