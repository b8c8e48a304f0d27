#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/gather/embed.hpp"

namespace biogpu::ops {

void embed_bench(OpBench& bench) {
  if (!bench.wanted("embed + norm")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const auto numbers = static_cast<double>(t * d);
  const BenchTensor table = bench.make({OpBench::kTokens, d}, 1, false);
  const BenchTensor weight = bench.make({d}, 1, false), bias = bench.make({d}, 1, false);
  const BenchTensor scale = bench.make({t}, 1, false);
  const BenchIndices ids = bench.make_indices(t, OpBench::kTokens);
  const BenchTensor sum = bench.make({t, d}, 1, false), out = bench.make({t, d}, 1, true);
  const Embed op{table.device, ids.device, scale.device,
                 {},           {},         {weight.device, bias.device, 1e-5f},
                 sum.device,   {},         out.device};
  embed(bench.context(), op);
  const std::int64_t n = OpBench::kRows;
  std::vector<float> memory(static_cast<std::size_t>(2 * n * d));
  const Tensor rows(memory.data(), DType::f32, {2 * n, d});
  const Tensor its_sum = rows.slice(0, 0, n), its_out = rows.slice(0, n, 2 * n);
  embed(bench.reference(), {table.host,
                            ids.host.slice(0, 0, n),
                            scale.host_rows(n),
                            {},
                            {},
                            {weight.host, bias.host, 1e-5f},
                            its_sum,
                            its_out,
                            {}});
  const double its_error =
      std::max(bench.error(sum.device, its_sum), bench.error(out.device, its_out));
  bench.add("embed + norm", fmt::format("{} x {}", t, d), (4.0 + bench.operand_bytes()) * numbers,
            8 * numbers, its_error, [&] { embed(bench.context(), op); });
}

}  // namespace biogpu::ops
