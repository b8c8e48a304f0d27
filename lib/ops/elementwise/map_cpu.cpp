#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/elementwise/map_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/log_exp-inl.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/elementwise/map_layout.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Numbers of a block in the first cache: a step goes through all of them before the next one.
constexpr std::int64_t kMapBlock = 256;

// Where an operand is: in memory, or one number for all.
struct MapOperand {
  const float* memory;
  float number;
  HWY_INLINE Vec at(std::int64_t i, std::size_t n) const {
    return memory == nullptr ? hn::Set(F32(), number) : load_first(memory + i, n);
  }
};

template <class Function>
HWY_INLINE void change(float* x, std::int64_t count, const Function& function) {
  for_vectors(count, [&](std::int64_t i, std::size_t n)
                         HWY_ATTR { store_first(function(load_first(x + i, n), i, n), n, x + i); });
}

HWY_INLINE Vec sigmoid_of(Vec x) {
  return hn::IfThenElse(hn::Eq(x, x), sigmoid(x), x);  // keeps no numbers
}

void map_function_block(MapCode code, float* x, std::int64_t count) {
  const auto with = [&](const auto& function) HWY_ATTR {
    change(x, count, [&](Vec v, std::int64_t, std::size_t) HWY_ATTR { return function(v); });
  };
  switch (code) {
    case MapCode::sigmoid:
      return with([](Vec v) HWY_ATTR { return sigmoid_of(v); });
    case MapCode::silu:
      return with([](Vec v) HWY_ATTR { return hn::Mul(v, sigmoid_of(v)); });
    case MapCode::gelu_erf:
      return with([](Vec v) HWY_ATTR { return activate<Activation::gelu_erf>(v); });
    case MapCode::gelu_sigmoid:
      return with([](Vec v) HWY_ATTR { return activate<Activation::gelu_sigmoid>(v); });
    case MapCode::gelu_tanh:
      return with([](Vec v) HWY_ATTR { return activate<Activation::gelu_tanh>(v); });
    case MapCode::relu:
      return with([](Vec v) HWY_ATTR { return activate<Activation::relu>(v); });
    case MapCode::softplus:
      return with([](Vec v) HWY_ATTR { return activate<Activation::softplus>(v); });
    case MapCode::tanh:
      return with([](Vec v) HWY_ATTR { return any_tanh(v); });
    case MapCode::exp:
      return with([](Vec v) HWY_ATTR { return any_exp(v); });
    default:
      return with([](Vec v) HWY_ATTR { return any_log(v); });
  }
}

void map_step_block(MapCode code, float* x, std::int64_t count, const MapOperand& b,
                    const MapOperand& c) {
  const auto with = [&](const auto& function) HWY_ATTR {
    change(x, count, [&](Vec v, std::int64_t i, std::size_t n) HWY_ATTR {
      return function(v, b.at(i, n), i, n);
    });
  };
  using Place = std::int64_t;
  switch (code) {
    case MapCode::load:
      return with([](Vec, Vec y, Place, std::size_t) HWY_ATTR { return y; });
    case MapCode::add:
      return with([](Vec v, Vec y, Place, std::size_t) HWY_ATTR { return hn::Add(v, y); });
    case MapCode::subtract:
      return with([](Vec v, Vec y, Place, std::size_t) HWY_ATTR { return hn::Sub(v, y); });
    case MapCode::multiply:
      return with([](Vec v, Vec y, Place, std::size_t) HWY_ATTR { return hn::Mul(v, y); });
    case MapCode::divide:
      return with([](Vec v, Vec y, Place, std::size_t) HWY_ATTR { return hn::Div(v, y); });
    case MapCode::multiply_add:
      return with([&](Vec v, Vec y, Place i, std::size_t n)
                      HWY_ATTR { return hn::MulAdd(v, y, c.at(i, n)); });
    case MapCode::minimum:
      return with([](Vec v, Vec y, Place, std::size_t) HWY_ATTR {
        return hn::IfThenElse(hn::Or(hn::Lt(y, v), hn::IsNaN(y)), y, v);
      });
    case MapCode::maximum:
      return with([](Vec v, Vec y, Place, std::size_t) HWY_ATTR {
        return hn::IfThenElse(hn::Or(hn::Gt(y, v), hn::IsNaN(y)), y, v);
      });
    case MapCode::greater:
      return with([](Vec v, Vec y, Place, std::size_t)
                      HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, y), hn::Set(F32(), 1.0f)); });
    case MapCode::select:
      return with([&](Vec v, Vec y, Place i, std::size_t n) HWY_ATTR {
        return hn::IfThenElse(hn::Eq(v, hn::Zero(F32())), c.at(i, n), y);
      });
    case MapCode::power:
      return with([](Vec v, Vec y, Place, std::size_t) HWY_ATTR { return power_of(v, y); });
    default:
      return map_function_block(code, x, count);
  }
}

// Up to kMapBlock numbers: columns [column, column + n) of n_rows rows of a layout.
struct MapBlock {
  std::int64_t row, n_rows, column, n;
};

// The first element of a row of a tensor.
HWY_INLINE std::int64_t map_row_offset(const MapLayout& layout, std::size_t tensor,
                                       std::int64_t row) {
  std::int64_t at = 0;
  for (int i = layout.rank - 1; i-- > 0;) {
    const auto a = static_cast<std::size_t>(i);
    at += row % layout.shape[a] * layout.stride[tensor][a];
    row /= layout.shape[a];
  }
  return at;
}

// The numbers of an input that belong to a block: where they lie, or gathered to `room`.
const float* map_input(const Map& op, const MapLayout& layout, std::size_t k, const MapBlock& block,
                       float* room) {
  const auto* const data = op.inputs[k].x.as<float>();
  const bool repeated = layout.row_stride(k) == 0;
  const std::int64_t given =
      std::clamp<std::int64_t>(layout.n_columns[k] - block.column, 0, block.n);
  if (block.n_rows == 1 && !repeated && given == block.n)
    return data + map_row_offset(layout, k, block.row) + block.column;
  for (std::int64_t r = 0; r < block.n_rows; ++r, room += block.n) {
    const float* const from = data + map_row_offset(layout, k, block.row + r);
    if (repeated) {
      std::fill_n(room, block.n, *from);
    } else {
      std::copy_n(from + block.column, given, room);
      std::fill_n(room + given, block.n - given, 0.0f);
    }
  }
  return room - block.n_rows * block.n;
}

void map_block(const Map& op, const MapLayout& layout, const MapBlock& block) {
  HWY_ALIGN float room[Map::kNumber][kMapBlock];
  HWY_ALIGN float x[kMapBlock];
  const float* slots[Map::kCurrent + 1] = {};
  for (std::size_t k = 0; k < static_cast<std::size_t>(op.n_inputs); ++k)
    slots[k] = map_input(op, layout, k, block, room[k]);
  slots[Map::kKept] = room[Map::kKept];
  slots[Map::kKept + 1] = room[Map::kKept + 1];
  slots[Map::kCurrent] = x;
  const std::int64_t count = block.n_rows * block.n;
  std::copy_n(slots[0], count, x);
  for (std::size_t s = 0; s < static_cast<std::size_t>(op.n_steps); ++s) {
    const MapStep& step = op.steps[s];
    if (step.code == MapCode::keep) {
      std::copy_n(x, count, room[step.b]);
    } else {
      map_step_block(step.code, x, count, {slots[step.b], step.b_number},
                     {slots[step.c], step.c_number});
    }
  }
  for (std::int64_t r = 0; r < block.n_rows; ++r)
    std::copy_n(
        x + r * block.n, block.n,
        op.out.as<float>() + map_row_offset(layout, MapLayout::kOut, block.row + r) + block.column);
}

// Blocks [begin, end): of many short rows, or of a part of one.
void map_blocks(const Map& op, const MapLayout& layout, std::int64_t begin, std::int64_t end) {
  const std::int64_t n_rows = layout.n_rows(), length = layout.row_length();
  const std::int64_t in_row = (length + kMapBlock - 1) / kMapBlock;
  const std::int64_t rows = in_row == 1 ? kMapBlock / length : 1;
  for (std::int64_t b = begin; b < end; ++b) {
    const std::int64_t row = b / in_row * rows, column = b % in_row * kMapBlock;
    map_block(op, layout,
              {row, std::min(rows, n_rows - row), column, std::min(kMapBlock, length - column)});
  }
}

std::int64_t count_map_blocks(const MapLayout& layout) {
  const std::int64_t length = layout.row_length(), n_rows = layout.n_rows();
  if (length >= kMapBlock) return n_rows * ((length + kMapBlock - 1) / kMapBlock);
  const std::int64_t rows = kMapBlock / length;
  return (n_rows + rows - 1) / rows;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(map_blocks);
HWY_EXPORT(count_map_blocks);

void map_cpu(CpuContext& context, const Map& op) {
  if (op.out.size() == 0) return;
  const MapLayout layout = map_layout(op);
  const std::int64_t n_blocks = HWY_DYNAMIC_DISPATCH(count_map_blocks)(layout);
  context.for_rows(n_blocks, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(map_blocks)(op, layout, begin, end);
  });
}

}  // namespace biogpu::ops
#endif
