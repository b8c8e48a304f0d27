#include <fmt/format.h>

#include "lib/core/big_array.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/gpu_context_gpu.hpp"

namespace biogpu::tensor {

std::unique_ptr<Context> make_gpu_context(int device, const ContextOptions& options) {
  return gpu_feature<GpuTable>().make_context(device, options);
}

std::shared_ptr<float> Context::host_memory(std::size_t n) {
  const auto memory = std::make_shared<BigArray<float>>(n);
  return {memory, memory->data()};
}

GpuOp Context::gpu_op(std::string_view name) {
  throw Error(ErrorCode::device,
              fmt::format("{} has no operation '{}'; use --device cpu", this->name(), name));
}

}  // namespace biogpu::tensor
