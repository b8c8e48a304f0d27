#pragma once

#include <cstdint>
#include <vector>

#include "lib/c_api/block.h"
#include "lib/models/structure/block_parts.hpp"
#include "lib/tensor/tensor.hpp"

// Arrays that other programs pass to blocks: checked, and copied where operations need them in
// another way.
namespace biogpu::c_api {

// The array as a tensor, or an empty one where it is not given. name: for messages. operand: the
// 16-bit type that arrays may have besides f32, or f32. Throws Error{usage}.
tensor::Tensor tensor_of(const biogpu_block_tensor& array, const char* name, tensor::DType operand);
// Checks of a result: no two numbers share an address, the last axis is contiguous.
void require_result(const tensor::Tensor& x, const char* name);
// Its shape; -1: any. Throws Error{usage} that names what was found and expected.
void require_shape(const tensor::Tensor& x, const char* name,
                   const std::vector<std::int64_t>& shape);

// Index i of the first axis, without it.
tensor::Tensor item_of(const tensor::Tensor& x, std::int64_t i);

// Its last axis as columns, all others as rows; contiguous, or empty.
tensor::Tensor rows_of(const tensor::Tensor& x);

// Memory of the innermost scope for numbers of x's shape.
tensor::Tensor contiguous_like(const models::BlockContext& run, const tensor::Tensor& x,
                               tensor::DType type);
// x itself where it is contiguous and f32 or, if the caller takes them, operands; else a copy in
// f32 in memory of the innermost scope.
tensor::Tensor contiguous_floats(const models::BlockContext& run, const tensor::Tensor& x,
                                 bool takes_operands);
// x of four axes itself where it has operands and the last axis is contiguous; else a copy.
tensor::Tensor operands_of(const models::BlockContext& run, const tensor::Tensor& x);

}  // namespace biogpu::c_api
