#include "lib/models/proteinmpnn/ops/block_linear_gpu.hpp"

#include <memory>
#include <vector>

#include "gpu/models/proteinmpnn/edge_weights.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/models/proteinmpnn/ops/block_linear.hpp"
#include "lib/tensor/device_context_gpu.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

using gpu::proteinmpnn::edges::BlockLinear;
using tensor::DeviceContext;

// Those of a device; their memory is the context's.
struct BlockLinears {
  explicit BlockLinears(gpu::ops::Device&) {}
  std::vector<std::unique_ptr<BlockLinear>> all;
};

void pack_for_edges(DeviceContext& context, const Tensor& weight, BlockLinear& packed) {
  gpu::ops::Device& device = context.device();
  const int n_in = static_cast<int>(weight.shape[1]);
  packed.words = static_cast<std::uint32_t*>(
      context.allocate(gpu::proteinmpnn::edges::pack_words(n_in) * sizeof(std::uint32_t)));
  packed.n_steps = gpu::proteinmpnn::edges::pack_steps(n_in);
  const gpu::DeviceBuffer<float> rows(static_cast<std::size_t>(weight.size()));
  device.staging().to_device(rows.data(), weight.data, weight.bytes(), device.stream());
  gpu::proteinmpnn::edges::launch_pack(rows.data(), n_in, packed.words, device.stream());
  device.stream().synchronize();  // the rows go
}

void turn_for_node(DeviceContext& context, const Tensor& weight, BlockLinear& packed) {
  const std::int64_t n_out = weight.shape[0], n_in = weight.shape[1];
  std::vector<float> columns(static_cast<std::size_t>(weight.size()));
  for (std::int64_t o = 0; o < n_out; ++o)
    for (std::int64_t k = 0; k < n_in; ++k)
      columns[static_cast<std::size_t>((k / 4 * n_out + o) * 4 + k % 4)] = weight.row<float>(o)[k];
  packed.columns =
      context.upload({columns.data(), DType::f32, {n_in, n_out}}, DType::f32).as<float>();
}

}  // namespace

void upload_device_block_linear(Context& context, const void* args) {
  with_device_errors([&] {
    const auto& upload = *static_cast<const BlockLinearUpload*>(args);
    auto& device_context = static_cast<DeviceContext&>(context);
    auto packed = std::make_unique<BlockLinear>();
    if (upload.use == BlockUse::edges)
      pack_for_edges(device_context, upload.weight, *packed);
    else
      turn_for_node(device_context, upload.weight, *packed);
    Linear& linear = *upload.linear;
    linear.n_out = upload.weight.shape[0];
    linear.n_in = upload.weight.shape[1];
    if (!upload.bias.empty()) linear.bias = context.upload(upload.bias, DType::f32);
    packed->bias = linear.bias.as<float>();
    linear.packed = packed.get();
    device_context.device().state<BlockLinears>().all.push_back(std::move(packed));
  });
}

}  // namespace biogpu::models::proteinmpnn
