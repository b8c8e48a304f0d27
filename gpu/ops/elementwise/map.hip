// An expression of up to four tensors, number by number.
//
// Shapes   see lib/ops/elementwise/map.hpp.
// Mapping  one thread per 8 neighbours of a row, of 16 bytes an access where places suit; the steps
//          are interpreted, with the same branch in all threads, over numbers in registers. Chains
//          of contiguous tensors are one row.
// Traffic  each number of each tensor once; memory bound: with three tensors of fp32 a number may
//          take about 70 instructions on an H200, with 16 bits half of it.
// Result   fp32 in the order of the steps; the same for all grids and widths. The device's expf,
//          logf and tanhf, and the activations of gpu/ops/activation.hpp.
// Source   own.
// Oracle   map_ref, lib/ops/elementwise/map_ref.cpp.
#include "lib/ops/elementwise/map.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "gpu/ops/device.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "lib/ops/elementwise/map_layout.hpp"

namespace biogpu::gpu::ops {
namespace {

using biogpu::ops::Map;
using biogpu::ops::MapCode;
using biogpu::ops::MapLayout;
using biogpu::ops::MapStep;

constexpr int kMapGroup = 8;

struct MapTensor {
  void* data;
  std::int64_t stride[tensor::kMaxRank];
  std::int64_t n_columns;
  Element type;
};

struct MapArgs {
  MapTensor inputs[Map::kMaxInputs];
  MapTensor out;
  MapStep steps[Map::kMaxSteps];
  std::int64_t shape[tensor::kMaxRank];
  std::int64_t n_rows;
  int rank, groups, n_inputs, n_steps;
};

struct MapNumbers {
  float value[kMapGroup];
};

// n neighbours from a row's place on, zeros behind them.
__device__ __forceinline__ void load_map(const Rows& at, int n, MapNumbers& x) {
  if (at.type != Element::f32 && in_groups<kMapGroup>(at))
    return load_neighbours<kMapGroup>(at, 0, 0, n, x.value);
  load_neighbours<4>(at, 0, 0, n, x.value);
  load_neighbours<4>(at, 0, 4, n, x.value + 4);
}

__device__ __forceinline__ void store_map(const Rows& at, int n, const MapNumbers& x) {
  if (at.type != Element::f32 && in_groups<kMapGroup>(at))
    return store_neighbours<kMapGroup>(at, 0, 0, n, x.value);
  store_neighbours<4>(at, 0, 0, n, x.value);
  store_neighbours<4>(at, 0, 4, n, x.value + 4);
}

// Where a thread's numbers of a tensor begin.
struct MapPlace {
  std::int64_t index[tensor::kMaxRank - 1];  // of all axes but the last
  std::int64_t column;
};

__device__ __forceinline__ MapPlace place_of(const MapArgs& a, std::int64_t row,
                                             std::int64_t column) {
  MapPlace place{};
  place.column = column;
#pragma unroll
  for (int i = tensor::kMaxRank - 2; i >= 0; --i) {
    if (i >= a.rank - 1) continue;
    if (row >> 32 == 0) {
      const auto low = static_cast<std::uint32_t>(row), by = static_cast<std::uint32_t>(a.shape[i]);
      place.index[i] = low % by;
      row = low / by;
    } else {
      place.index[i] = row % a.shape[i];
      row /= a.shape[i];
    }
  }
  return place;
}

__device__ __forceinline__ Rows rows_at(const MapTensor& x, const MapPlace& place,
                                        std::int64_t column_stride, int rank) {
  std::int64_t at = place.column * column_stride;
#pragma unroll
  for (int i = 0; i < tensor::kMaxRank - 1; ++i)
    if (i < rank - 1) at += place.index[i] * x.stride[i];
  const int bytes = x.type == Element::f32 ? 4 : 2;
  return {static_cast<char*>(x.data) + at * bytes, 0, x.type};
}

__device__ __forceinline__ void load_input(const MapArgs& a, const MapTensor& x,
                                           const MapPlace& place, int n, MapNumbers& to) {
  const std::int64_t column_stride = x.stride[a.rank - 1];
  const Rows rows = rows_at(x, place, column_stride, a.rank);
  if (column_stride == 0) {
    const float value = load_element(rows, 0, 0);
#pragma unroll
    for (int i = 0; i < kMapGroup; ++i) to.value[i] = value;
    return;
  }
  const std::int64_t left = x.n_columns - place.column;
  load_map(rows, left < n ? (left < 0 ? 0 : static_cast<int>(left)) : n, to);
}

// The slots of a thread. Kernels for few inputs that keep nothing need fewer registers, so that
// more threads hide the memory's latency.
template <int kInputs_, bool kKeeps_>
struct MapSlots {
  static constexpr int kInputs = kInputs_;
  static constexpr bool kKeeps = kKeeps_;
  MapNumbers input[kInputs];
  MapNumbers kept[kKeeps ? 2 : 1];  // not used where nothing is kept
};

template <class Slots>
__device__ __forceinline__ void read_operand(const Slots& slots, const MapNumbers& x, int slot,
                                             float number, MapNumbers& to) {
  switch (slot) {
    case 0:
      to = slots.input[0];
      return;
    case 1:
      to = slots.input[1];
      return;
    case 2:
      if constexpr (Slots::kInputs > 2) to = slots.input[2];
      return;
    case 3:
      if constexpr (Slots::kInputs > 3) to = slots.input[3];
      return;
    case Map::kKept:
      if constexpr (Slots::kKeeps) to = slots.kept[0];
      return;
    case Map::kKept + 1:
      if constexpr (Slots::kKeeps) to = slots.kept[1];
      return;
    case Map::kCurrent:
      to = x;
      return;
    default:
#pragma unroll
      for (int i = 0; i < kMapGroup; ++i) to.value[i] = number;
  }
}

template <class Function>
__device__ __forceinline__ void each(MapNumbers& x, const Function& function) {
#pragma unroll
  for (int i = 0; i < kMapGroup; ++i) x.value[i] = function(x.value[i], i);
}

__device__ __forceinline__ void apply_function(MapCode code, MapNumbers& x) {
  const auto activated = [&](Activation activation) {
    each(x, [&](float v, int) { return activate(activation, v); });
  };
  switch (code) {
    case MapCode::sigmoid:
      return each(x, [](float v, int) { return 1.0f / (1.0f + expf(-v)); });
    case MapCode::silu:
      return each(x, [](float v, int) { return v / (1.0f + expf(-v)); });
    case MapCode::gelu_erf:
      return activated(Activation::gelu_erf);
    case MapCode::gelu_sigmoid:
      return activated(Activation::gelu_sigmoid);
    case MapCode::gelu_tanh:
      return activated(Activation::gelu_tanh);
    case MapCode::relu:
      return activated(Activation::relu);
    case MapCode::softplus:
      return activated(Activation::softplus);
    case MapCode::tanh:
      return each(x, [](float v, int) { return tanhf(v); });
    case MapCode::exp:
      return each(x, [](float v, int) { return expf(v); });
    default:
      return each(x, [](float v, int) { return logf(v); });
  }
}

template <class Slots>
__device__ __forceinline__ void apply_step(const Slots& slots, const MapStep& step, MapNumbers& x) {
  if (step.code >= MapCode::sigmoid) return apply_function(step.code, x);
  MapNumbers b;
  read_operand(slots, x, step.b, step.b_number, b);
  switch (step.code) {
    case MapCode::load:
      x = b;
      return;
    case MapCode::add:
      return each(x, [&](float v, int i) { return v + b.value[i]; });
    case MapCode::subtract:
      return each(x, [&](float v, int i) { return v - b.value[i]; });
    case MapCode::multiply:
      return each(x, [&](float v, int i) { return v * b.value[i]; });
    case MapCode::divide:
      return each(x, [&](float v, int i) { return v / b.value[i]; });
    case MapCode::minimum:
      return each(x, [&](float v, int i) {
        return b.value[i] < v || b.value[i] != b.value[i] ? b.value[i] : v;
      });
    case MapCode::maximum:
      return each(x, [&](float v, int i) {
        return b.value[i] > v || b.value[i] != b.value[i] ? b.value[i] : v;
      });
    case MapCode::greater:
      return each(x, [&](float v, int i) { return v > b.value[i] ? 1.0f : 0.0f; });
    case MapCode::power:
      return each(x, [&](float v, int i) { return expf(b.value[i] * logf(v)); });
    default:
      break;
  }
  MapNumbers c;
  read_operand(slots, x, step.c, step.c_number, c);
  if (step.code == MapCode::multiply_add)
    return each(x, [&](float v, int i) { return fmaf(v, b.value[i], c.value[i]); });
  each(x, [&](float v, int i) { return v != 0.0f ? b.value[i] : c.value[i]; });
}

template <class Slots>
__global__ __launch_bounds__(kRowBlock) void map_kernel(MapArgs a) {
  const RowGroup at = row_group(a.groups);
  if (at.row >= a.n_rows) return;
  const std::int64_t column = std::int64_t{at.group} * kMapGroup, left = a.out.n_columns - column;
  const int n = left < kMapGroup ? static_cast<int>(left) : kMapGroup;
  const MapPlace place = place_of(a, at.row, column);
  Slots slots;
#pragma unroll
  for (int k = 0; k < Slots::kInputs; ++k)
    if (k < a.n_inputs) load_input(a, a.inputs[k], place, n, slots.input[k]);
  MapNumbers x = slots.input[0];
  for (int s = 0; s < a.n_steps; ++s) {
    const MapStep step = a.steps[s];
    if constexpr (Slots::kKeeps) {
      if (step.code == MapCode::keep) {
        if (step.b == Map::kKept) {
          slots.kept[0] = x;
        } else {
          slots.kept[1] = x;
        }
        continue;
      }
    }
    apply_step(slots, step, x);
  }
  store_map(rows_at(a.out, place, 1, a.rank), n, x);
}

MapTensor map_tensor(const tensor::Tensor& x, const MapLayout& layout, std::size_t k,
                     std::int64_t n_columns) {
  MapTensor made{x.data, {}, n_columns, element_of(x.dtype)};
  for (std::size_t i = 0; i < layout.shape.size(); ++i) made.stride[i] = layout.stride[k][i];
  return made;
}

}  // namespace

void map(Device& device, const Map& op) {
  if (op.out.size() == 0) return;
  const MapLayout layout = biogpu::ops::map_layout(op);
  MapArgs args{};
  for (std::size_t k = 0; k < static_cast<std::size_t>(op.n_inputs); ++k)
    args.inputs[k] = map_tensor(op.inputs[k].x, layout, k, layout.n_columns[k]);
  args.out = map_tensor(op.out, layout, MapLayout::kOut, layout.row_length());
  for (std::size_t s = 0; s < static_cast<std::size_t>(op.n_steps); ++s)
    args.steps[s] = op.steps[s];
  for (std::size_t i = 0; i < layout.shape.size(); ++i) args.shape[i] = layout.shape[i];
  args.n_rows = layout.n_rows();
  args.rank = layout.rank;
  args.groups = static_cast<int>(ceil_div(layout.row_length(), kMapGroup));
  args.n_inputs = op.n_inputs;
  args.n_steps = op.n_steps;
  const auto steps = std::span(op.steps).first(static_cast<std::size_t>(op.n_steps));
  const bool keeps = std::any_of(steps.begin(), steps.end(),
                                 [](const MapStep& step) { return step.code == MapCode::keep; });
  const auto kernel = keeps || op.n_inputs > 3 ? map_kernel<MapSlots<Map::kMaxInputs, true>>
                                               : map_kernel<MapSlots<3, false>>;
  device.stream().launch(kernel, row_blocks(args.n_rows * args.groups), kRowBlock, args);
}

}  // namespace biogpu::gpu::ops
