// TensorNet's operations on the tensors of atoms.
//
// Shapes   see lib/models/tensornet/ops/node_ops.hpp; T atoms, F channels.
// Mapping  one thread per atom and channel, all of whose numbers are in its registers.
// Traffic  72 to 120 bytes a tensor for 30 to 150 operations; memory bound.
// Result   fused products in fp32; the same for all grids and widths.
// Source   TensorNet (arXiv 2306.06482), equations 5 to 9; gradients own.
// Oracle   lib/models/tensornet/ops/node_ops_ref.cpp.
#include "lib/models/tensornet/ops/node_ops.hpp"

#include "gpu/models/tensornet/rows.hpp"
#include "gpu/ops/device.hpp"

namespace biogpu::gpu::tensornet {
namespace {

namespace model = biogpu::models::tensornet;
using ops::kRowBlock;
using ops::load_numbers;
using ops::Numbers;
using ops::row_group;
using ops::RowGroup;
using ops::store_numbers;
using ops::TensorGrid;

__device__ __forceinline__ int part_of_number(int c) { return c == 0 ? 0 : c < 4 ? 1 : 2; }

__global__ __launch_bounds__(kRowBlock) void part_scale_kernel(float* out, const float* x,
                                                               const float* weights,
                                                               TensorGrid grid) {
  const RowGroup place = row_group(grid.d);
  if (place.row >= grid.n_atoms) return;
  const std::int64_t at = place.row * grid.d + place.group, step = grid.step();
  const float* const weight = weights + 3 * place.row * grid.d + place.group;
#pragma unroll
  for (int c = 0; c < 9; ++c)
    out[at + c * step] = weight[part_of_number(c) * grid.d] * x[at + c * step];
}

struct PartScaleGradArrays {
  const float *x, *weights, *d_out;
  float *d_weights, *d_x;
  TensorGrid grid;
};

__global__ __launch_bounds__(kRowBlock) void part_scale_grad_kernel(PartScaleGradArrays a) {
  const RowGroup place = row_group(a.grid.d);
  if (place.row >= a.grid.n_atoms) return;
  const std::int64_t at = place.row * a.grid.d + place.group, step = a.grid.step();
  const std::int64_t parts = 3 * place.row * a.grid.d + place.group;
  float sums[3] = {};
#pragma unroll
  for (int c = 0; c < 9; ++c) {
    const int p = part_of_number(c);
    const float g = a.d_out[at + c * step];
    sums[p] += g * a.x[at + c * step];
    a.d_x[at + c * step] = g * a.weights[parts + p * a.grid.d];
  }
#pragma unroll
  for (int p = 0; p < 3; ++p) a.d_weights[parts + p * a.grid.d] = sums[p];
}

__global__ __launch_bounds__(kRowBlock) void tensor_shrink_kernel(float* out, const float* x,
                                                                  TensorGrid grid) {
  const RowGroup place = row_group(grid.d);
  if (place.row >= grid.n_atoms) return;
  const std::int64_t at = place.row * grid.d + place.group, step = grid.step();
  store_numbers(out, at, step, biogpu::ops::shrink(load_numbers(x, at, step)));
}

__global__ __launch_bounds__(kRowBlock) void tensor_shrink_grad_kernel(float* d_x, const float* x,
                                                                       const float* d_out,
                                                                       TensorGrid grid) {
  const RowGroup place = row_group(grid.d);
  if (place.row >= grid.n_atoms) return;
  const std::int64_t at = place.row * grid.d + place.group, step = grid.step();
  store_numbers(d_x, at, step,
                biogpu::ops::shrink_grad(load_numbers(x, at, step), load_numbers(d_out, at, step)));
}

__global__ __launch_bounds__(kRowBlock) void tensor_update_kernel(float* out, const float* x,
                                                                  const float* y,
                                                                  const float* factors,
                                                                  TensorGrid grid) {
  const RowGroup place = row_group(grid.d);
  if (place.row >= grid.n_atoms) return;
  const std::int64_t at = place.row * grid.d + place.group, step = grid.step();
  const float factor = factors != nullptr ? factors[place.row] : 1.0f;
  const Numbers of_x = load_numbers(x, at, step), of_y = load_numbers(y, at, step);
  Numbers sum = biogpu::ops::square(of_y, factor);
#pragma unroll
  for (int c = 0; c < 9; ++c) sum.n[c] += of_x.n[c] + of_y.n[c];
  store_numbers(out, at, step, sum);
}

__global__ __launch_bounds__(kRowBlock) void tensor_update_grad_kernel(float* d_y, const float* y,
                                                                       const float* factors,
                                                                       const float* d_out,
                                                                       TensorGrid grid) {
  const RowGroup place = row_group(grid.d);
  if (place.row >= grid.n_atoms) return;
  const std::int64_t at = place.row * grid.d + place.group, step = grid.step();
  const float factor = factors != nullptr ? factors[place.row] : 1.0f;
  const Numbers g = load_numbers(d_out, at, step);
  Numbers sum = biogpu::ops::square_grad(load_numbers(y, at, step), factor, g);
#pragma unroll
  for (int c = 0; c < 9; ++c) sum.n[c] += g.n[c];
  store_numbers(d_y, at, step, sum);
}

}  // namespace

void part_scale(ops::Device& device, const model::PartScale& op) {
  if (op.x.size() == 0) return;
  device.stream().launch(part_scale_kernel, grid_of(op.x).blocks(), kRowBlock, op.out.as<float>(),
                         op.x.as<float>(), op.weights.as<float>(), grid_of(op.x));
}

void part_scale_grad(ops::Device& device, const model::PartScaleGrad& op) {
  if (op.x.size() == 0) return;
  const PartScaleGradArrays arrays{op.x.as<float>(),     op.weights.as<float>(),
                                   op.d_out.as<float>(), op.d_weights.as<float>(),
                                   op.d_x.as<float>(),   grid_of(op.x)};
  device.stream().launch(part_scale_grad_kernel, arrays.grid.blocks(), kRowBlock, arrays);
}

void tensor_shrink(ops::Device& device, const model::TensorShrink& op) {
  if (op.x.size() == 0) return;
  device.stream().launch(tensor_shrink_kernel, grid_of(op.x).blocks(), kRowBlock,
                         op.out.as<float>(), op.x.as<float>(), grid_of(op.x));
}

void tensor_shrink_grad(ops::Device& device, const model::TensorShrinkGrad& op) {
  if (op.x.size() == 0) return;
  device.stream().launch(tensor_shrink_grad_kernel, grid_of(op.x).blocks(), kRowBlock,
                         op.d_x.as<float>(), op.x.as<float>(), op.d_out.as<float>(), grid_of(op.x));
}

void tensor_update(ops::Device& device, const model::TensorUpdate& op) {
  if (op.x.size() == 0) return;
  device.stream().launch(tensor_update_kernel, grid_of(op.x).blocks(), kRowBlock,
                         op.out.as<float>(), op.x.as<float>(), op.y.as<float>(),
                         op.factor.as<float>(), grid_of(op.x));
}

void tensor_update_grad(ops::Device& device, const model::TensorUpdateGrad& op) {
  if (op.y.size() == 0) return;
  device.stream().launch(tensor_update_grad_kernel, grid_of(op.y).blocks(), kRowBlock,
                         op.d_y.as<float>(), op.y.as<float>(), op.factor.as<float>(),
                         op.d_out.as<float>(), grid_of(op.y));
}

}  // namespace biogpu::gpu::tensornet
