#include "lib/ops/convolution/depthwise_conv1d.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {

void depthwise_conv1d_ref(const DepthwiseConv1d& op) {
  const std::int64_t taps = op.weight.shape[0];
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s)
    for (std::int64_t q = 0; q < op.segments->length(s); ++q)
      for (std::int64_t c = 0; c < op.x.shape[1]; ++c) {
        double y = 0;
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const std::int64_t row = q + tap - (taps - 1) / 2;
          if (row < 0 || row >= op.segments->length(s)) continue;
          y += static_cast<double>(op.x.row<float>(op.segments->begin(s) + row)[c]) *
               static_cast<double>(op.weight.row<float>(tap)[c]);
        }
        reference::store(op.out, op.activated, op.segments->begin(s) + q, c, y);
      }
}

}  // namespace biogpu::ops
