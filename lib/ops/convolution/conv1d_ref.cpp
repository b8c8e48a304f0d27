#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {
namespace {

// Row `row` of the results, q rows after the first of its segment, which reads rows [begin, end).
void convolve(const Conv1d& op, std::int64_t row, std::int64_t q, std::int64_t begin,
              std::int64_t end) {
  const std::int64_t n_in = op.x.shape[1];
  const std::int64_t first = begin + q * op.stride - (op.taps - 1) / 2;
  for (std::int64_t n = 0; n < op.linear->n_out; ++n) {
    double y = op.linear->bias.empty() ? 0 : op.linear->bias.as<float>()[n];
    for (std::int64_t tap = 0; tap < op.taps; ++tap) {
      if (first + tap < begin || first + tap >= end) continue;
      const float* const x = op.x.row<float>(first + tap);
      const float* const weight = op.linear->weight.row<float>(n) + tap * n_in;
      for (std::int64_t c = 0; c < n_in; ++c) y += static_cast<double>(x[c]) * weight[c];
    }
    if (!op.residual.empty()) y += op.residual.row<float>(row)[n];
    reference::store(op.out, op.activated, row, n, y);
  }
}

}  // namespace

void conv1d_ref(const Conv1d& op) {
  if (op.taps == 1 && op.stride == 1) {
    for (std::int64_t t = 0; t < op.x.shape[0]; ++t) convolve(op, t, t, 0, op.x.shape[0]);
    return;
  }
  const Ragged& out = op.stride == 1 ? *op.segments : *op.out_segments;
  for (std::int64_t s = 0; s < out.n_segments; ++s)
    for (std::int64_t q = 0; q < out.length(s); ++q)
      convolve(op, out.begin(s) + q, q, op.segments->begin(s), op.segments->end(s));
}

}  // namespace biogpu::ops
