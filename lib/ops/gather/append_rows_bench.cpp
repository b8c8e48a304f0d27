#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/gather/append_rows.hpp"

namespace biogpu::ops {

// One row for each segment's last place.
void append_rows_bench(OpBench& bench) {
  if (!bench.wanted("append rows")) return;
  const BenchShape& shape = bench.shape();
  const BenchTensor x = bench.make({shape.n_segments, shape.d}, 1, true),
                    out = bench.make({shape.n_rows(), shape.d}, 1, true);
  BenchIndices counts = bench.make_indices(shape.n_segments, 1);
  counts.values.assign(counts.values.size(), static_cast<std::int32_t>(shape.length - 1));
  bench.context().copy_in(counts.device, counts.values.data());
  const AppendRows op{x.device, bench.segments().device_starts, counts.device, out.device};
  append_rows(bench.context(), op);
  bench.add("append rows", fmt::format("{} x {}", shape.n_segments, shape.d),
            2 * bench.operand_bytes() * static_cast<double>(shape.n_segments * shape.d), 0,
            bench.error(out.device.slice(0, shape.length - 1, shape.length), x.host_rows(1)),
            [&] { append_rows(bench.context(), op); });
}

}  // namespace biogpu::ops
