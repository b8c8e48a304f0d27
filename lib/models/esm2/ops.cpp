#include "lib/models/esm2/contacts.hpp"
#include "lib/models/esm2/encoder_8m.hpp"
#include "lib/ops/dispatch.hpp"

namespace biogpu::models::esm2 {

#define BIOGPU_OP(name, Args) BIOGPU_DEFINE_OP(name, Args)
#include "lib/models/esm2/ops.def"
#undef BIOGPU_OP

// Hosts run the operations of the encoder one by one.
void encode_8m_ref(const Encode8m& op) { *op.ran = false; }
void encode_8m_cpu(CpuContext&, const Encode8m& op) { *op.ran = false; }

}  // namespace biogpu::models::esm2
