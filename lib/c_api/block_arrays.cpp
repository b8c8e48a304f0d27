#include "lib/c_api/block_arrays.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "lib/core/error.hpp"
#include "lib/ops/gather/permute.hpp"

namespace biogpu::c_api {
namespace {

using tensor::DType;
using tensor::Tensor;

// Bytes between the first and the last number, which addresses can tell apart.
constexpr std::int64_t kMaxSpan = std::int64_t{1} << 48;

[[noreturn]] void refuse(const char* name, const std::string& what) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", name, what));
}

DType type_of(const biogpu_block_tensor& array, const char* name) {
  switch (array.type) {
    case BIOGPU_BLOCK_F32:
      return DType::f32;
    case BIOGPU_BLOCK_F16:
      return DType::f16;
    case BIOGPU_BLOCK_BF16:
      return DType::bf16;
    case BIOGPU_BLOCK_U8:
      return DType::u8;
    default:
      refuse(name, fmt::format("type {}; expected 0 to 3", array.type));
  }
}

bool is_16_bit(DType type) { return type == DType::f16 || type == DType::bf16; }

}  // namespace

Tensor tensor_of(const biogpu_block_tensor& array, const char* name, DType operand) {
  Tensor x;
  if (array.n_axes == 0) return x;
  if (array.n_axes < 0 || array.n_axes > tensor::kMaxRank)
    refuse(name, fmt::format("{} axes; expected up to {}", array.n_axes, tensor::kMaxRank));
  x.data = array.data;
  x.dtype = type_of(array, name);
  x.rank = array.n_axes;
  if (is_16_bit(x.dtype) && x.dtype != operand)
    refuse(name,
           fmt::format("{}; the context takes f32{}", tensor::name_of(x.dtype),
                       is_16_bit(operand) ? std::string(" and ") + tensor::name_of(operand)
                                          : std::string(" alone: open it with another precision")));
  std::int64_t span = 1, n = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.rank); ++i) {
    const std::int64_t extent = array.shape[i], stride = array.stride[i];
    if (extent < 0 || stride < 0 || extent > kMaxSpan || stride > kMaxSpan)
      refuse(name,
             fmt::format("axis {} has an extent of {} and a stride of {}", i, extent, stride));
    x.shape[i] = extent;
    x.stride[i] = stride;
    if (extent > 1 && stride > kMaxSpan / extent) refuse(name, "more memory than there can be");
    if (extent > 1) span += (extent - 1) * stride;
    if (extent > 0 && n > kMaxSpan / extent) refuse(name, "more numbers than there can be");
    n *= extent;
  }
  if (span > kMaxSpan) refuse(name, "more memory than there can be");
  return x;
}

void require_result(const Tensor& x, const char* name) {
  if (x.empty()) refuse(name, "not given");
  const auto last = static_cast<std::size_t>(x.rank) - 1;
  for (std::size_t i = 0; i <= last; ++i)
    if (x.shape[i] > 1 && x.stride[i] == 0)
      refuse(name, fmt::format("axis {} has a stride of 0, in a result", i));
  if (x.shape[last] > 1 && x.stride[last] != 1)
    refuse(name, fmt::format("the last axis has a stride of {}; expected 1", x.stride[last]));
  if (x.dtype == DType::u8) refuse(name, "u8; expected floating-point numbers");
}

void require_shape(const Tensor& x, const char* name, const std::vector<std::int64_t>& shape) {
  bool fits = x.rank == static_cast<int>(shape.size());
  std::string expected;
  std::size_t i = 0;
  for (const std::int64_t extent : shape) {
    fits = fits && (extent < 0 || x.shape[i] == extent);
    expected += fmt::format("{}{}", i++ == 0 ? "" : ", ",
                            extent < 0 ? std::string("any") : std::to_string(extent));
  }
  if (fits) return;
  refuse(name, fmt::format("{}; expected [{}]", x.empty() ? "not given" : describe(x), expected));
}

Tensor item_of(const Tensor& x, std::int64_t i) {
  Tensor item;
  item.dtype = x.dtype;
  item.rank = x.rank - 1;
  item.data = x.slice(0, i, i + 1).data;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(item.rank); ++axis) {
    item.shape[axis] = x.shape[axis + 1];
    item.stride[axis] = x.stride[axis + 1];
  }
  return item;
}

Tensor rows_of(const Tensor& x) {
  if (x.empty()) return x;
  const std::int64_t width = x.shape[static_cast<std::size_t>(x.rank) - 1];
  return {x.data, x.dtype, {x.size() / width, width}};
}

Tensor contiguous_like(const models::BlockContext& run, const Tensor& x, DType type) {
  Tensor like = run.arena.take(type, {x.size()});
  like.rank = x.rank;
  like.shape = x.shape;
  std::int64_t step = 1;
  for (auto axis = static_cast<std::size_t>(x.rank); axis-- > 0; step *= x.shape[axis])
    like.stride[axis] = step;
  return like;
}

Tensor contiguous_floats(const models::BlockContext& run, const Tensor& x, bool takes_operands) {
  const bool is_right_type =
      x.dtype == DType::f32 || (takes_operands && x.dtype == run.context.compute_dtype());
  if (is_right_type && x.contiguous()) return x;
  const Tensor copy = contiguous_like(run, x, DType::f32);
  ops::permute(run.context, {x, copy});
  return copy;
}

Tensor operands_of(const models::BlockContext& run, const Tensor& x) {
  const DType operand = run.context.compute_dtype();
  if (x.dtype == operand && (x.stride[3] == 1 || x.shape[3] <= 1)) return x;
  const Tensor copy = contiguous_like(run, x, operand);
  ops::permute(run.context, {x, copy});
  return copy;
}

}  // namespace biogpu::c_api
