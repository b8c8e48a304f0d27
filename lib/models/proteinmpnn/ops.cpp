#include "lib/models/proteinmpnn/decode/decode.hpp"
#include "lib/ops/dispatch.hpp"

namespace biogpu::models::proteinmpnn {

#define BIOGPU_OP(name, Args) BIOGPU_DEFINE_OP(name, Args)
#include "lib/models/proteinmpnn/ops.def"
#undef BIOGPU_OP

}  // namespace biogpu::models::proteinmpnn
