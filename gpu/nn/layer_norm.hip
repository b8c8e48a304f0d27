// Residual sum, layer normalisation and the copy that the next matrix product reads, in one pass;
// also the embedding, whose rows are normalised the same way.
//
// Shapes   see layer_norm.hpp.
// Mapping  one wave per row, 4 rows a block; lane l of a wave of W holds columns 4 l ... 4 l + 3 of
//          every group of 4 W, in registers from the load to the store.
// Traffic  bytes of each given array once; 8 d operations a row; memory bound.
// Result   mean, then variance of the differences, in fp32; sums in an order that depends on W and
// d
//          only.
// Limits   d <= kLayerNormWidth.
// Source   Ba, Kiros and Hinton 2016, arXiv 1607.06450.
// Oracle   make_reference_backend, lib/nn/reference_ops.cpp.
#include "gpu/nn/layer_norm.hpp"

#include "gpu/nn/layer_norm_row.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::nn {
namespace {

constexpr unsigned kRowsOfBlock = 4;

template <int kWave, int kGroups>
__global__ __launch_bounds__(kRowsOfBlock* kWave) void layer_norm_kernel(LayerNormArgs a) {
  const std::int64_t row =
      blockIdx.x * static_cast<std::int64_t>(kRowsOfBlock) + threadIdx.x / kWave;
  if (row < a.n_rows) layer_norm_row<kWave, kGroups>(a, row);
}

}  // namespace

void launch_layer_norm(const LayerNormArgs& a, Stream& stream) {
  if (a.n_rows == 0) return;
  const auto run = [&](auto kernel) {
    stream.launch(kernel, static_cast<std::size_t>(ceil_div(a.n_rows, kRowsOfBlock)),
                  kRowsOfBlock * static_cast<unsigned>(stream.wave_width()), a);
  };
  // Groups of 4 W columns: the fewer registers, the more rows are under way.
  if (stream.wave_width() == 64) {
    if (a.d <= 1280) return run(layer_norm_kernel<64, 5>);
    if (a.d <= 2560) return run(layer_norm_kernel<64, 10>);
    return run(layer_norm_kernel<64, 20>);
  }
  if (a.d <= 512) return run(layer_norm_kernel<32, 4>);
  if (a.d <= 1280) return run(layer_norm_kernel<32, 10>);
  if (a.d <= 2560) return run(layer_norm_kernel<32, 20>);
  return run(layer_norm_kernel<32, 40>);
}

}  // namespace biogpu::gpu::nn
