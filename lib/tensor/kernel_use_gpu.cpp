#include "lib/tensor/kernel_use_gpu.hpp"

#include "gpu/rt/graph_kernels.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/tensor/device_context_gpu.hpp"
#include "lib/tensor/kernel_use.hpp"

namespace biogpu::tensor {

void list_device_kernels(Context& context, const void* args) {
  const auto& list = *static_cast<const ListKernels*>(args);
  context.synchronize();  // and its device is the current one
  with_device_errors([&] {
    *list.kernels = gpu::list_kernels(static_cast<DeviceContext&>(context).device().stream(),
                                      list.n_runs, *list.body);
  });
}

}  // namespace biogpu::tensor
