// One row more for each sequence of a cache.
//
// Shapes   see lib/ops/gather/append_rows.hpp.
// Mapping  one thread per 4 numbers of a row.
// Traffic  each row read and written once; a launch takes longer than the copies of a batch.
// Result   exact.
// Source   own.
// Oracle   append_rows_ref, lib/ops/gather/append_rows_ref.cpp.
#include "lib/ops/gather/append_rows.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void append_rows_kernel(Rows out, Rows x,
                                                                const std::int32_t* starts,
                                                                const std::int32_t* counts,
                                                                std::int64_t n_rows, int d) {
  const auto [row, group] = row_group((d + 3) / 4);
  if (row >= n_rows) return;
  const std::int64_t to = std::int64_t{starts[row]} + counts[row];
  if (to >= starts[row + 1]) return;
  const int column = 4 * group;
  const bool aligned = column + 4 <= d && in_groups<4>(out) && in_groups<4>(x);
  if (aligned) return store_elements4(out, to, column, load_elements4(x, row, column));
  for (int c = column; c < d && c < column + 4; ++c)
    store_element(out, to, c, load_element(x, row, c));
}

}  // namespace

void append_rows(Device& device, const biogpu::ops::AppendRows& op) {
  const std::int64_t n = op.x.shape[0];
  const int d = static_cast<int>(op.x.shape[1]);
  if (n == 0) return;
  device.stream().launch(append_rows_kernel, row_blocks(n * ((d + 3) / 4)), kRowBlock,
                         rows_of(op.out), rows_of(op.x), op.starts.as<std::int32_t>(),
                         op.counts.as<std::int32_t>(), n, d);
}

}  // namespace biogpu::gpu::ops
