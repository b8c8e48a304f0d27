// Residual sum, layer normalisation and the copy that the next matrix product reads, in one pass;
// also the embedding, whose rows are normalised the same way.
//
// Shapes   see layer_norm.hpp.
// Mapping  one wave per row, 4 rows a block; lane l of a wave of W holds columns 4 l ... 4 l + 3 of
//          every group of 4 W, in registers from the load to the store. Kernels are compiled for
//          the type of 16-bit arrays, and for rows of x alone.
// Traffic  bytes of each given array once; 8 d operations a row; memory bound.
// Result   mean, then variance of the differences, in fp32; sums in an order that depends on W and
//          d only.
// Limits   d <= kLayerNormWidth.
// Source   Ba, Kiros and Hinton 2016, arXiv 1607.06450.
// Oracle   make_reference_backend, lib/nn/reference_ops.cpp.
#include "gpu/nn/layer_norm.hpp"

#include <type_traits>

#include "gpu/nn/layer_norm_row.hpp"
#include "gpu/prim/matrix_tile.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::nn {
namespace {

constexpr unsigned kRowsOfBlock = 4;

template <int kWave, int kGroups, Number16 kType, bool kPlain>
__global__ __launch_bounds__(kRowsOfBlock* kWave) void layer_norm_kernel(LayerNormArgs a) {
  const std::int64_t row =
      blockIdx.x * static_cast<std::int64_t>(kRowsOfBlock) + threadIdx.x / kWave;
  if (row < a.n_rows) layer_norm_row<kWave, kGroups, kType, kPlain>(a, row);
}

// Groups of 4 W columns: the fewer registers, the more rows are under way.
template <int kWave, Number16 kType, bool kPlain, class Run>
void with_groups(int d, Run&& run) {
  if constexpr (kWave == 64) {
    if (d <= 1280) return run(layer_norm_kernel<64, 5, kType, kPlain>);
    if (d <= 2560) return run(layer_norm_kernel<64, 10, kType, kPlain>);
    return run(layer_norm_kernel<64, 20, kType, kPlain>);
  } else {
    if (d <= 512) return run(layer_norm_kernel<32, 4, kType, kPlain>);
    if (d <= 1024) return run(layer_norm_kernel<32, 8, kType, kPlain>);
    if (d <= 1280) return run(layer_norm_kernel<32, 10, kType, kPlain>);
    if (d <= 2560) return run(layer_norm_kernel<32, 20, kType, kPlain>);
    return run(layer_norm_kernel<32, 40, kType, kPlain>);
  }
}

}  // namespace

void launch_layer_norm(const LayerNormArgs& a, Stream& stream) {
  if (a.n_rows == 0) return;
  const auto run = [&](auto kernel) {
    stream.launch(kernel, static_cast<std::size_t>(ceil_div(a.n_rows, kRowsOfBlock)),
                  kRowsOfBlock * static_cast<unsigned>(stream.wave_width()), a);
  };
  bool is_bf16 = false;
  for (const Rows* const rows : {&a.x, &a.add, &a.position_table, &a.sum, &a.out, &a.out_operand})
    is_bf16 |= rows->type == Element::bf16;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    const bool plain = a.ids == nullptr && a.scale == nullptr && a.add.data == nullptr &&
                       a.position_table.data == nullptr;
    const auto with_type = [&](auto bf16) {
      constexpr Number16 kType = bf16 ? Number16::bf16 : Number16::fp16;
      plain ? with_groups<wave, kType, true>(a.d, run) : with_groups<wave, kType, false>(a.d, run);
    };
    is_bf16 ? with_type(std::true_type()) : with_type(std::false_type());
  });
}

}  // namespace biogpu::gpu::nn
