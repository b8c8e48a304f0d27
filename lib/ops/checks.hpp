#pragma once

#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/cross_attention.hpp"
#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/attention/rotate_heads.hpp"
#include "lib/ops/cartesian_tensor/eigen3.hpp"
#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/normalisation/layer_norm_grad.hpp"
#include "lib/ops/normalisation/softmax.hpp"
#include "lib/ops/reduction/sample.hpp"
#include "lib/ops/triangle/triangle_product.hpp"

namespace biogpu::ops {

// What operations demand of their arguments beyond types and shapes: lib/ops/dispatch.hpp checks it
// at every call, on every context and in every build, so that no caller has to. Throws
// Error{failed} naming the operation. What a GPU's kernels alone demand their operation checks
// itself. An operation of a model has its check next to its arguments, in the model's namespace.
template <class Args>
void check(const Args&) {}

void check(const AddLayerNorm& op);
void check(const Attention& op);
void check(const CrossAttention& op);
void check(const DotProductAttention& op);
void check(const QkvRotary& op);
void check(const RotateHeads& op);
void check(const Conv1d& op);
void check(const Conv1dLetters& op);
void check(const GatherRows& op);
void check(const Eigen3& op);
void check(const Gemm& op);
void check(const LayerNormGrad& op);
void check(const Map& op);
void check(const Matmul& op);
void check(const Permute& op);
void check(const Sample& op);
void check(const Softmax& op);
void check(const TriangleProduct& op);

// What contexts of the host demand besides: their operands are f32.
template <class Args>
void check_on_host(const Args&) {}

void check_on_host(const DotProductAttention& op);
void check_on_host(const Gemm& op);
void check_on_host(const Map& op);
void check_on_host(const Softmax& op);

}  // namespace biogpu::ops
