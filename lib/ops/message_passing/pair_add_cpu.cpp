#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/message_passing/pair_add_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/message_passing/pair_add.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void add_pair(const PairAdd& op, std::int64_t e) {
  const float* const receiver = op.receiver.row<float>(op.edges->receivers.as<std::int32_t>()[e]);
  const float* const neighbour =
      op.neighbour.row<float>(op.edges->neighbours.as<std::int32_t>()[e]);
  for_vectors(op.x.shape[1], [&](std::int64_t f, std::size_t n) HWY_ATTR {
    const Vec sum = hn::Add(load_first(receiver + f, n), load_first(neighbour + f, n));
    store_first(hn::Add(load_first(op.x.row<float>(e) + f, n), sum), n, op.out.row<float>(e) + f);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(add_pair);

void pair_add_cpu(CpuContext& context, const PairAdd& op) {
  const std::int64_t n_edges = op.edges->starts.as<std::int32_t>()[op.edges->n_atoms()];
  context.for_rows(n_edges, [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(add_pair)(op, e);
  });
}

}  // namespace biogpu::ops
#endif
