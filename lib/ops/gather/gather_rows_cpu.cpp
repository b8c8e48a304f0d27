#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::ops {

// Copies alone: the reference's loop is bound by memory.
void gather_rows_cpu(CpuContext&, const GatherRows& op) { gather_rows_ref(op); }

}  // namespace biogpu::ops
