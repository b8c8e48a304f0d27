// The GPU's operations by name: those of every list of operations.
#include "gpu/ops/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/models/esm2/contacts.hpp"
#include "lib/models/esm2/encoder_8m.hpp"
#include "lib/models/proteinmpnn/decode/decode.hpp"
#include "lib/models/tensornet/ops/activate.hpp"
#include "lib/models/tensornet/ops/charge_ops.hpp"
#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/models/tensornet/ops/radial_embed.hpp"
#include "lib/ops/all_ops.hpp"
#include "lib/tensor/block_linear_gpu.hpp"
#include "lib/tensor/device_context_gpu.hpp"
#include "lib/tensor/gpu_context_gpu.hpp"

// Defined by gpu/ops/NAME.hip.
namespace biogpu::gpu::ops {
#define BIOGPU_OP(name, Args) void name(Device& device, const biogpu::ops::Args& op);
#include "lib/ops/ops.def"
#undef BIOGPU_OP
}  // namespace biogpu::gpu::ops

// Defined in gpu/models/esm2.
namespace biogpu::gpu::esm2 {
#define BIOGPU_OP(name, Args) void name(ops::Device& device, const models::esm2::Args& op);
#include "lib/models/esm2/ops.def"
#undef BIOGPU_OP
}  // namespace biogpu::gpu::esm2

// Defined in gpu/models/proteinmpnn.
namespace biogpu::gpu::proteinmpnn {
#define BIOGPU_OP(name, Args) void name(ops::Device& device, const models::proteinmpnn::Args& op);
#include "lib/models/proteinmpnn/ops.def"
#undef BIOGPU_OP
}  // namespace biogpu::gpu::proteinmpnn

// Defined in gpu/models/tensornet.
namespace biogpu::gpu::tensornet {
#define BIOGPU_OP(name, Args) void name(ops::Device& device, const models::tensornet::Args& op);
#include "lib/models/tensornet/ops/ops.def"
#undef BIOGPU_OP
}  // namespace biogpu::gpu::tensornet

namespace biogpu::tensor {
namespace {

// An operation behind the one type of function that a context hands out.
template <class Args, void (*kRun)(gpu::ops::Device&, const Args&)>
void run(Context& context, const void* args) {
  with_device_errors([&] {
    kRun(static_cast<DeviceContext&>(context).device(), *static_cast<const Args*>(args));
  });
}

constexpr NamedGpuOp kOps[] = {
    {"upload_block_linear", &upload_device_block_linear},
#define BIOGPU_OP(name, Args) {#name, &run<biogpu::ops::Args, &gpu::ops::name>},
#include "lib/ops/ops.def"
#undef BIOGPU_OP
#define BIOGPU_OP(name, Args) {#name, &run<models::esm2::Args, &gpu::esm2::name>},
#include "lib/models/esm2/ops.def"
#undef BIOGPU_OP
#define BIOGPU_OP(name, Args) {#name, &run<models::proteinmpnn::Args, &gpu::proteinmpnn::name>},
#include "lib/models/proteinmpnn/ops.def"
#undef BIOGPU_OP
#define BIOGPU_OP(name, Args) {#name, &run<models::tensornet::Args, &gpu::tensornet::name>},
#include "lib/models/tensornet/ops/ops.def"
#undef BIOGPU_OP
};

}  // namespace

std::span<const NamedGpuOp> list_gpu_ops() { return kOps; }

}  // namespace biogpu::tensor
