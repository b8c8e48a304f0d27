#include <algorithm>
#include <type_traits>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/gather/copy_axes.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/tensor/float16.hpp"

namespace biogpu::ops {
namespace {

// Types of numbers that are copied as bits, and of those that are converted.
template <DType kType>
struct Number16Bits {
  std::uint16_t bits;
};
using Half = Number16Bits<DType::f16>;
using Bfloat = Number16Bits<DType::bf16>;

float value_of(float x) { return x; }
float value_of(Half x) { return tensor::from_f16(x.bits); }
float value_of(Bfloat x) { return tensor::from_bf16(x.bits); }

template <class From, class To>
To convert(From x) {
  if constexpr (std::is_same_v<From, To>) return x;
  if constexpr (std::is_same_v<To, float>) return value_of(x);
  if constexpr (std::is_same_v<To, Half>) return {tensor::to_f16(value_of(x))};
  if constexpr (std::is_same_v<To, Bfloat>) return {tensor::to_bf16(value_of(x))};
}

// A part of the copy: n_rows of n numbers, rows along x's fastest axis and numbers along out's.
struct Block {
  std::int64_t n_rows, n;
  std::int64_t from_row, from, to_row, to;  // strides
};

// Through a part of the nearest cache: whole lines are read and written once, for lines of rows
// that are a power of two apart push each other out of it.
template <class From, class To>
void copy_block(const From* from, To* to, const Block& block) {
  constexpr std::int64_t kRows = 64 / sizeof(From), kColumns = 64;  // of a line, and of several
  if (block.from == 1 && block.to == 1) {
    for (std::int64_t r = 0; r < block.n_rows; ++r)
      std::transform(from + r * block.from_row, from + r * block.from_row + block.n,
                     to + r * block.to_row, convert<From, To>);
    return;
  }
  To turned[kRows][kColumns];
  for (std::int64_t row = 0; row < block.n_rows; row += kRows)
    for (std::int64_t column = 0; column < block.n; column += kColumns) {
      const std::int64_t n_rows = std::min(kRows, block.n_rows - row);
      const std::int64_t n = std::min(kColumns, block.n - column);
      const From* const source = from + row * block.from_row + column * block.from;
      To* const target = to + row * block.to_row + column * block.to;
      for (std::int64_t c = 0; c < n; ++c)
        for (std::int64_t r = 0; r < n_rows; ++r)
          turned[r][c] = convert<From, To>(source[r * block.from_row + c * block.from]);
      for (std::int64_t r = 0; r < n_rows; ++r)
        for (std::int64_t c = 0; c < n; ++c) target[r * block.to_row + c * block.to] = turned[r][c];
    }
}

template <class From, class To>
void copy_all(CpuContext& context, const Permute& op) {
  constexpr std::int64_t kNumbers = 1 << 14;  // of a task, about
  const CopyAxes axes = copy_axes(op.x, op.out);
  const auto last = static_cast<std::size_t>(axes.rank) - 1;
  auto rows = static_cast<std::size_t>(axes.fastest_of_x());
  if (rows == last && last > 0) --rows;  // copied along the last axis; the rows are the next
  const bool has_rows = rows != last;
  const std::int64_t n_columns = axes.shape[last], n_rows = has_rows ? axes.shape[rows] : 1;
  const std::int64_t width = std::min(n_columns, axes.from[last] == 1 ? kNumbers : kNumbers / 64);
  const std::int64_t height = std::min(n_rows, std::max<std::int64_t>(1, kNumbers / width));
  const std::int64_t across = (n_columns + width - 1) / width,
                     down = (n_rows + height - 1) / height;
  std::int64_t n_outer = 1;
  for (std::size_t i = 0; i < last; ++i)
    if (i != rows) n_outer *= axes.shape[i];
  context.for_each(n_outer * down * across, [&](std::int64_t task) {
    const std::int64_t column = task % across * width, row = task / across % down * height;
    std::int64_t from = column * axes.from[last], to = column * axes.to[last];
    if (has_rows) {
      from += row * axes.from[rows];
      to += row * axes.to[rows];
    }
    std::int64_t left = task / across / down;
    for (std::size_t i = last; i-- > 0;) {
      if (i == rows) continue;
      from += left % axes.shape[i] * axes.from[i];
      to += left % axes.shape[i] * axes.to[i];
      left /= axes.shape[i];
    }
    copy_block(op.x.as<From>() + from, op.out.as<To>() + to,
               {std::min(height, n_rows - row), std::min(width, n_columns - column),
                has_rows ? axes.from[rows] : 0, axes.from[last], has_rows ? axes.to[rows] : 0,
                axes.to[last]});
  });
}

template <class From>
void copy_from(CpuContext& context, const Permute& op) {
  switch (op.out.dtype) {
    case DType::f16:
      return copy_all<From, Half>(context, op);
    case DType::bf16:
      return copy_all<From, Bfloat>(context, op);
    default:
      return copy_all<From, float>(context, op);
  }
}

void copy_same(CpuContext& context, const Permute& op) {
  switch (tensor::bytes_of(op.x.dtype)) {
    case 1:
      return copy_all<std::uint8_t, std::uint8_t>(context, op);
    case 2:
      return copy_all<std::uint16_t, std::uint16_t>(context, op);
    case 4:
      return copy_all<std::uint32_t, std::uint32_t>(context, op);
    default:
      return copy_all<std::uint64_t, std::uint64_t>(context, op);
  }
}

}  // namespace

void permute_cpu(CpuContext& context, const Permute& op) {
  if (op.x.size() == 0) return;
  if (op.x.dtype == op.out.dtype) return copy_same(context, op);
  if (op.x.dtype == DType::f16) return copy_from<Half>(context, op);
  if (op.x.dtype == DType::bf16) return copy_from<Bfloat>(context, op);
  copy_from<float>(context, op);
}

}  // namespace biogpu::ops
