#include "lib/models/molscribe/ops/decode_steps.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::molscribe {

// On a CPU the model runs single operations, which are as fast: there is no launch to save. What is
// here serves comparisons.
void decode_steps_cpu(CpuContext&, const DecodeSteps& op) { decode_steps_ref(op); }

}  // namespace biogpu::models::molscribe
