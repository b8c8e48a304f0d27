#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/elementwise/sigmoid_gate_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/elementwise/sigmoid_gate.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void gate_row(const SigmoidGate& op, std::int64_t r) {
  for_vectors(op.x.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec s = sigmoid(load_first(op.gate.row<float>(r) + i, n));
    store_first(hn::Mul(load_first(op.x.row<float>(r) + i, n), s), n, op.out.row<float>(r) + i);
  });
}

void gate_grad_of_row(const SigmoidGateGrad& op, std::int64_t r) {
  for_vectors(op.x.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec s = sigmoid(load_first(op.gate.row<float>(r) + i, n));
    const Vec d_x = hn::Mul(load_first(op.d_out.row<float>(r) + i, n), s);
    const Vec rest = hn::Sub(hn::Set(F32(), 1.0f), s);
    const Vec x = load_first(op.x.row<float>(r) + i, n);
    store_first(d_x, n, op.d_x.row<float>(r) + i);
    store_first(hn::Mul(hn::Mul(d_x, x), rest), n, op.d_gate.row<float>(r) + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(gate_row);
HWY_EXPORT(gate_grad_of_row);

void sigmoid_gate_cpu(CpuContext& context, const SigmoidGate& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(gate_row)(op, r);
  });
}

void sigmoid_gate_grad_cpu(CpuContext& context, const SigmoidGateGrad& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(gate_grad_of_row)(op, r);
  });
}

}  // namespace biogpu::ops
#endif
