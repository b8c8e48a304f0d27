#include "lib/models/esm2/ops/encoder_8m.hpp"

namespace biogpu::models::esm2 {

// The CPU runs the operations of the encoder one by one.
void encode_8m_cpu(CpuContext&, const Encode8m& op) { *op.ran = false; }

}  // namespace biogpu::models::esm2
