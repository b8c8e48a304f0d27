#include "lib/tensor/kernel_use.hpp"

#include "lib/tensor/context.hpp"

namespace biogpu::tensor {

std::vector<KernelUse> list_kernels(Context& context, int n_runs,
                                    const std::function<void()>& body) {
  std::vector<KernelUse> kernels;
  if (context.kind() != Context::Kind::gpu) return kernels;
  const ListKernels list{n_runs, &body, &kernels};
  context.gpu_op("tensor.list_kernels")(context, &list);
  return kernels;
}

}  // namespace biogpu::tensor
