#include "lib/ops/gather/repeat_rows.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.repeat_rows: back to odd lengths, with a residual", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t factor = GENERATE(2, 4), d = GENERATE(33, 64);
  const bool residual = GENERATE(false, true);
  const std::vector<std::int32_t> lengths{2, 41, 1, 0, 18};
  std::vector<std::int32_t> pooled;
  for (const std::int32_t n : lengths)
    pooled.push_back((n + static_cast<std::int32_t>(factor) - 1) /
                     static_cast<std::int32_t>(factor));
  const test::RaggedPair out = bed.segments(lengths), in = bed.segments(pooled);
  const Pair x = bed.random({in.host.n_rows, d}, 2.0f, true);
  const Pair y = residual ? bed.random({62, d}, 1.0f, false) : bed.unset({62, d}, false);
  const Pair shift = bed.random({d}, 0.5f, false), next = bed.unset({62, d}, true);
  const tensor::Tensor none;
  ops::repeat_rows(bed.reference(), {x.host,
                                     factor,
                                     &in.host,
                                     &out.host,
                                     residual ? y.host : none,
                                     y.host,
                                     {{}, shift.host, ops::Activation::softplus, next.host}});
  ops::repeat_rows(bed.device(), {x.device,
                                  factor,
                                  &in.device,
                                  &out.device,
                                  residual ? y.device : none,
                                  y.device,
                                  {{}, shift.device, ops::Activation::softplus, next.device}});
  CHECK(bed.difference(y) < (residual ? 2e-7 : 1e-30));
  CHECK(bed.difference(next) < (bed.is_cpu() ? 2e-6 : bed.operand_bound()));
}
