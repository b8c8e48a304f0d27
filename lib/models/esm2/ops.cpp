#include "lib/models/esm2/contacts.hpp"
#include "lib/models/esm2/encoder_8m.hpp"
#include "lib/ops/dispatch.hpp"

namespace biogpu::models::esm2 {

#define BIOGPU_OP(name, Args) BIOGPU_DEFINE_OP(name, Args)
#include "lib/models/esm2/ops.def"
#undef BIOGPU_OP

}  // namespace biogpu::models::esm2
