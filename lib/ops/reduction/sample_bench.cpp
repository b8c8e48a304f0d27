#include "lib/ops/reduction/sample.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void sample_bench(OpBench& bench) {
  if (!bench.wanted("sample")) return;
  const std::int64_t t = bench.shape().n_rows(), n = OpBench::kTokens, rows = OpBench::kRows;
  const BenchTensor logits = bench.make({t, n}, 3, false);
  const BenchIndices out = bench.make_indices(t, n);
  Sample op;
  op.logits = logits.device;
  op.seed = 7;
  op.out = out.device;
  sample(bench.context(), op);
  std::vector<std::int32_t> right(static_cast<std::size_t>(rows)), got(static_cast<std::size_t>(t));
  Sample host = op;
  host.logits = logits.host_rows(rows);
  host.out = Tensor(right.data(), DType::i32, {rows});
  sample(bench.reference(), host);
  bench.context().copy_out(got.data(), out.device);
  bench.context().synchronize();
  got.resize(right.size());
  bench.add("sample", fmt::format("{} x {}", t, n), 4.0 * static_cast<double>(t * (n + 1)), 0,
            got == right ? 0 : 1, [&] { sample(bench.context(), op); });
}

}  // namespace biogpu::ops
