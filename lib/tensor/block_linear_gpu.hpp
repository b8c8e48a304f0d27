#pragma once

#include "lib/tensor/context.hpp"

namespace biogpu::tensor {

// The GPU's side of upload_block_linear(). args: BlockLinearUpload.
void upload_device_block_linear(Context& context, const void* args);

}  // namespace biogpu::tensor
