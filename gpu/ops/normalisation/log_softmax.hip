// Logarithms of the softmax of rows.
//
// Shapes   see lib/ops/normalisation/log_softmax.hpp.
// Mapping  one wave per row.
// Traffic  each row three times, twice of them from cache; memory bound.
// Result   sums in an order that depends on the row's length and the wave's width alone.
// Source   own.
// Oracle   log_softmax_ref, lib/ops/normalisation/log_softmax_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/normalisation/layer_norm_row.hpp"
#include "gpu/ops/row_threads.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"

namespace biogpu::gpu::ops {
namespace {

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void log_softmax_kernel(Rows x, std::int64_t n_rows,
                                                                int d) {
  const std::int64_t row = thread_number() / kWave;
  if (row >= n_rows) return;
  const int lane = wave_lane<kWave>();
  float top = -3.0e38f;
  for (int c = lane; c < d; c += kWave) {
    const float value = load_element(x, row, c);
    top = value > top ? value : top;
  }
  top = wave_max<kWave>(top);
  float sum = 0;
  for (int c = lane; c < d; c += kWave) sum += expf(load_element(x, row, c) - top);
  const float log_sum = top + logf(wave_sum<kWave>(sum));
  for (int c = lane; c < d; c += kWave) store_element(x, row, c, load_element(x, row, c) - log_sum);
}

}  // namespace

void log_softmax(Device& device, const biogpu::ops::LogSoftmax& op) {
  const std::int64_t n_rows = op.x.shape[0];
  if (n_rows == 0) return;
  Stream& stream = device.stream();
  const auto kernel = stream.wave_width() == 64 ? log_softmax_kernel<64> : log_softmax_kernel<32>;
  stream.launch(kernel, row_blocks(n_rows * stream.wave_width()), kRowBlock, rows_of(op.x), n_rows,
                static_cast<int>(op.x.shape[1]));
}

}  // namespace biogpu::gpu::ops
