#include "lib/models/molscribe/ops/select_token.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::molscribe {

// A few hundred numbers a row that a product has just written: the reference's loop.
void select_token_cpu(CpuContext&, const SelectToken& op) { select_token_ref(op); }

}  // namespace biogpu::models::molscribe
