#include "lib/ops/reduction/argmax.hpp"

#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::ops {
namespace {

Tensor one_row(const Tensor& x, std::int64_t row) {
  return x.empty() ? Tensor() : x.slice(0, row, row + 1);
}

}  // namespace

// One pass over numbers that a product has just written: the reference's loop, by all threads.
void argmax_cpu(CpuContext& context, const Argmax& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row)
      argmax_ref({one_row(op.x, row), op.allowed, one_row(op.rules, row), one_row(op.out, row),
                  one_row(op.value, row)});
  });
}

}  // namespace biogpu::ops
