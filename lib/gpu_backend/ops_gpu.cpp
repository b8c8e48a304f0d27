// The GPU's operations by family and name: those of every list of operations.
#include "gpu/ops/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/gpu_backend/all_ops.hpp"
#include "lib/models/proteinmpnn/ops/block_linear_gpu.hpp"
#include "lib/tensor/device_context_gpu.hpp"
#include "lib/tensor/gpu_context_gpu.hpp"
#include "lib/tensor/kernel_use_gpu.hpp"
#include "lib/tensor/tiles_gpu.hpp"

// Defined by gpu/ops/FOLDER/NAME.hip and gpu/models/FAMILY/NAME.hip.
#define BIOGPU_FAMILY_OP(family, space, name, Args)      \
  namespace biogpu::gpu::family {                        \
  void name(ops::Device& device, const space::Args& op); \
  }
#include "lib/gpu_backend/all_ops.def"
#undef BIOGPU_FAMILY_OP

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
    {"proteinmpnn.upload_block_linear", &models::proteinmpnn::upload_device_block_linear},
    {"tensor.list_kernels", &list_device_kernels},
    {"tensor.tiles", &give_device_tiles},
#define BIOGPU_FAMILY_OP(family, space, name, Args) \
  {#family "." #name, &run<space::Args, &gpu::family::name>},
#include "lib/gpu_backend/all_ops.def"
#undef BIOGPU_FAMILY_OP
};

}  // namespace

std::span<const NamedGpuOp> list_gpu_ops() { return kOps; }

}  // namespace biogpu::tensor
