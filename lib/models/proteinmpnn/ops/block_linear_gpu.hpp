#pragma once

#include "lib/models/proteinmpnn/ops/declare.hpp"

namespace biogpu::models::proteinmpnn {

// The GPU's side of upload_block_linear(). args: BlockLinearUpload.
void upload_device_block_linear(Context& context, const void* args);

}  // namespace biogpu::models::proteinmpnn
