#include "lib/models/esm2/encoder_8m.hpp"

namespace biogpu::models::esm2 {

// Hosts run the operations of the encoder one by one.
void encode_8m_ref(const Encode8m& op) { *op.ran = false; }
void encode_8m_cpu(CpuContext&, const Encode8m& op) { *op.ran = false; }

}  // namespace biogpu::models::esm2
