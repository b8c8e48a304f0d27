#include "lib/ops/dispatch.hpp"

#include "lib/ops/all_ops.hpp"

namespace biogpu::ops {

#define BIOGPU_OP(name, Args) BIOGPU_DEFINE_OP(name, Args)
#include "lib/ops/ops.def"
#undef BIOGPU_OP

}  // namespace biogpu::ops
