#include "lib/nn/small_encoder_gpu.hpp"

#include <cstdlib>

#include "lib/core/errors_gpu.hpp"
#include "lib/nn/device_backend_gpu.hpp"

namespace biogpu::nn {

namespace device_nn = gpu::nn;

namespace {

// The shape of op; n_layers 0 where it is none of the kernel's.
device_nn::SmallEncoderShape shape_of(const Encoder& op) {
  device_nn::SmallEncoderShape shape;
  if (op.blocks.empty()) return shape;
  const float eps = op.final_norm.eps;
  for (const EncoderBlock& block : op.blocks)
    if (block.attention_norm.eps != eps || block.feed_norm.eps != eps) return shape;
  const EncoderBlock& first = op.blocks.front();
  shape.d = static_cast<int>(first.qkv->n_in);
  shape.n_heads = static_cast<int>(op.n_heads);
  shape.head = static_cast<int>(first.qkv->n_in / op.n_heads);
  shape.d_feed = static_cast<int>(first.feed_up->n_out);
  shape.n_layers = static_cast<int>(op.blocks.size());
  return shape;
}

const DeviceLinear& device_linear(const Linear* linear) {
  return *static_cast<const DeviceLinear*>(linear->packed);
}

}  // namespace

SmallEncoderEngine::SmallEncoderEngine(Precision precision, gpu::Stream& stream)
    : stream_(stream),
      // Where one way of products is asked for, that way is wanted here, too.
      enabled_(operand_type(precision) != DType::f32 && std::getenv("BIOGPU_GEMM") == nullptr),
      type_(precision == Precision::bf16 ? gpu::Number16::bf16 : gpu::Number16::fp16) {}

const SmallEncoderEngine::Weights& SmallEncoderEngine::weights_of(
    const Encoder& op, const device_nn::SmallEncoderShape& shape) {
  const auto [found, is_new] = weights_.try_emplace(op.blocks.front().qkv->packed);
  Weights& made = found->second;
  if (!is_new) return made;
  made.n_groups = device_nn::small_groups(shape, stream_);
  made.packed.reserve(device_nn::small_weights_bytes(shape));
  made.vectors.reserve(device_nn::small_vectors_count(shape));
  for (std::size_t i = 0; i < op.blocks.size(); ++i) {
    const EncoderBlock& block = op.blocks[i];
    const bool last = i + 1 == op.blocks.size();
    const Norm& next = last ? op.final_norm : op.blocks[i + 1].attention_norm;
    device_nn::SmallWeights from;
    from.qkv = device_linear(block.qkv).weight;
    from.qkv_bias = device_linear(block.qkv).bias;
    from.projection = device_linear(block.attention_out).weight;
    from.projection_bias = device_linear(block.attention_out).bias;
    from.up = device_linear(block.feed_up).weight;
    from.up_bias = device_linear(block.feed_up).bias;
    from.down = device_linear(block.feed_down).weight;
    from.down_bias = device_linear(block.feed_down).bias;
    from.attention_norm_weight = block.attention_norm.weight.as<float>();
    from.attention_norm_bias = block.attention_norm.bias.as<float>();
    from.feed_norm_weight = block.feed_norm.weight.as<float>();
    from.feed_norm_bias = block.feed_norm.bias.as<float>();
    from.next_norm_weight = next.weight.as<float>();
    device_nn::launch_pack_small_weights(shape, static_cast<int>(i), from, type_,
                                         made.packed.data(), made.vectors.data(), stream_);
  }
  return made;
}

void SmallEncoderEngine::reserve(std::size_t bytes) {
  if (bytes <= room_.size()) return;
  stream_.synchronize();
  room_.reserve(bytes);
  device_nn::clear_small_room(room_.data(), room_.size(), stream_);
}

bool SmallEncoderEngine::run(const Encoder& op, const Batch& batch, const DevicePlan& plan) {
  const device_nn::SmallEncoderShape shape = shape_of(op);
  if (!enabled_ || shape.n_layers == 0 || !device_nn::suits_small_encoder(shape, stream_))
    return false;
  const Weights& weights = weights_of(op, shape);
  const auto n_groups = device_nn::small_group_count(batch.n_tokens, batch.n_sequences);
  if (n_groups == 0 || n_groups > weights.n_groups) return false;
  device_nn::SmallEncoderArgs args;
  args.n_groups = static_cast<int>(n_groups);
  reserve(device_nn::small_room_bytes(shape, args.n_groups));
  args.shape = shape;
  args.packed = weights.packed.data();
  args.vectors = weights.vectors.data();
  args.table = op.table.as<float>();
  args.ids = batch.ids.as<std::int32_t>();
  args.scale = batch.scale.as<float>();
  args.starts = plan.starts();
  args.n_sequences = static_cast<int>(batch.n_sequences);
  args.cos_sin = op.rotary.cos_sin.as<float>();
  args.score_scale = op.scale;
  args.eps = op.final_norm.eps;
  args.norm_weight = op.final_norm.weight.as<float>();
  args.norm_bias = op.final_norm.bias.as<float>();
  args.out = rows_of(op.x);
  args.out_operand = rows_of(op.h);
  args.room = room_.data();
  device_nn::launch_small_encoder(args, type_, stream_);
  return true;
}

bool DeviceBackend::encode(const Encoder& op, const Batch& batch) {
  return with_device_errors([&] {
    load_plan(batch);
    return small_.run(op, batch, plan_);
  });
}

}  // namespace biogpu::nn
