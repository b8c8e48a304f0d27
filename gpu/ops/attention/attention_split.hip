// Attention in fp32: operands are sums of two fp16 numbers, products of three.
//
// Shapes   see attention.hpp.
// Mapping  that of attention.hip, 16 queries a wave. Of heads above 64 a few registers are spilled
//          on NVIDIA.
// Traffic  as attention.hip with twice the bytes; three products for one.
// Result   fp32 softmax with running maxima. Matrix cores sum 64 products at most, which are added
//          in registers and rounded; the order of sums depends on the sequence alone.
// Limits   head up to 192.
// Source   as attention.hip.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/attention/attention.hpp"
#include "gpu/ops/attention/attention_kernel.hpp"

namespace biogpu::gpu::ops {

void launch_attention_split(const AttentionArgs& a, Stream& stream) {
  with_matrix_wave(stream.wave_width(),
                   [&](auto wave) { launch_head<wave, Number16::fp16, 2>(a, stream); });
}

}  // namespace biogpu::gpu::ops
