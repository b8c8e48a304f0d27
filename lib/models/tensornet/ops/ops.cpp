#include "lib/models/tensornet/ops/activate.hpp"
#include "lib/models/tensornet/ops/charge_ops.hpp"
#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/models/tensornet/ops/radial_embed.hpp"
#include "lib/ops/dispatch.hpp"

namespace biogpu::models::tensornet {

#define BIOGPU_OP(name, Args) BIOGPU_DEFINE_OP(name, Args)
#include "lib/models/tensornet/ops/ops.def"
#undef BIOGPU_OP

}  // namespace biogpu::models::tensornet
