// Rows to other places, and to another type; zeros for rows of -1.
//
// Shapes   see lib/ops/gather/gather_rows.hpp; d numbers a row.
// Mapping  one thread per 4 numbers, in order of memory.
// Traffic  each array once; memory bound.
// Result   exact, or rounded once.
// Source   own.
// Oracle   gather_rows_ref, lib/ops/gather/gather_rows_ref.cpp.
#include <limits>

#include "gpu/ops/device.hpp"
#include "gpu/ops/gather/gather_rows.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::gpu::ops {
namespace {

// Rows from n_from on are those of `more`, which are as far apart.
__global__ __launch_bounds__(kRowBlock) void copy_rows_kernel(Rows to, Rows from, Rows more,
                                                              std::int64_t n_from,
                                                              const std::int32_t* rows,
                                                              std::int64_t n_rows, int d) {
  const int groups = (d + 3) / 4;
  const std::int64_t row = thread_number() / groups;
  const int column = static_cast<int>(thread_number() % groups) * 4;
  if (row >= n_rows) return;
  std::int64_t source = rows != nullptr ? rows[row] : row;
  if (source >= n_from) {
    source -= n_from;
    from.data = more.data;
  }
  const bool aligned = column + 4 <= d && in_groups<4>(to) && in_groups<4>(from);
  if (aligned) {
    const Float4 x = source < 0 ? Float4{} : load_elements4(from, source, column);
    return store_elements4(to, row, column, x);
  }
  for (int c = column; c < d && c < column + 4; ++c) {
    store_element(to, row, c, source < 0 ? 0.0f : load_element(from, source, c));
  }
}

void launch_copy_rows(const Rows& to, const Rows& from, const Rows& more, std::int64_t n_from,
                      const std::int32_t* rows, std::int64_t n_rows, int d, Stream& stream) {
  if (n_rows == 0) return;
  stream.launch(copy_rows_kernel, row_blocks(n_rows * ((d + 3) / 4)), kRowBlock, to, from, more,
                n_from, rows, n_rows, d);
}

}  // namespace

void launch_copy_rows(const Rows& to, const Rows& from, const std::int32_t* rows,
                      std::int64_t n_rows, int d, Stream& stream) {
  launch_copy_rows(to, from, {}, std::numeric_limits<std::int64_t>::max(), rows, n_rows, d, stream);
}

void gather_rows(Device& device, const biogpu::ops::GatherRows& op) {
  const std::int64_t n_from =
      op.more.empty() ? std::numeric_limits<std::int64_t>::max() : op.x.shape[0];
  launch_copy_rows(rows_of(op.out), rows_of(op.x), rows_of(op.more), n_from,
                   op.rows.as<std::int32_t>(), op.out.shape[0], static_cast<int>(op.out.shape[1]),
                   device.stream());
}

}  // namespace biogpu::gpu::ops
