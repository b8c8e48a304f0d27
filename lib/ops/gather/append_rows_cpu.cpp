#include "lib/ops/gather/append_rows.hpp"

namespace biogpu::ops {

// Copies alone: the reference's loop is bound by memory.
void append_rows_cpu(CpuContext&, const AppendRows& op) { append_rows_ref(op); }

}  // namespace biogpu::ops
