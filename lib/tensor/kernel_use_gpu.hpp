#pragma once

namespace biogpu::tensor {

class Context;

// "tensor.list_kernels" of a GPU context; args: ListKernels.
void list_device_kernels(Context& context, const void* args);

}  // namespace biogpu::tensor
