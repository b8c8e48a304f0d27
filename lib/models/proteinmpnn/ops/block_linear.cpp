#include "lib/models/proteinmpnn/ops/block_linear.hpp"

#include "lib/tensor/context.hpp"

namespace biogpu::models::proteinmpnn {

Linear upload_block_linear(Context& context, const Tensor& weight, const Tensor& bias,
                           BlockUse use) {
  if (context.kind() != Context::Kind::gpu) return context.upload_linear(weight, bias);
  Linear linear;
  const BlockLinearUpload args{weight, bias, use, &linear};
  context.gpu_op("proteinmpnn.upload_block_linear")(context, &args);
  return linear;
}

}  // namespace biogpu::models::proteinmpnn
