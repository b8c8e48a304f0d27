#include "gpu/models/esm2/encoder_8m_runner.hpp"

#include <cstdlib>
#include <utility>

#include "gpu/ops/gemm/gemm_runner.hpp"

namespace biogpu::gpu::esm2 {

namespace {

// The shape of op; n_layers 0 where it is none of the kernel's.
Encoder8mShape shape_of(const models::esm2::Encode8m& op) {
  Encoder8mShape shape;
  if (op.blocks.empty()) return shape;
  const float eps = op.final_norm.eps;
  for (const models::esm2::EncoderBlock& block : op.blocks)
    if (block.attention_norm.eps != eps || block.ffn_norm.eps != eps) return shape;
  const models::esm2::EncoderBlock& first = op.blocks.front();
  shape.d = static_cast<int>(first.qkv->n_in);
  shape.n_heads = static_cast<int>(op.n_heads);
  shape.head = static_cast<int>(first.qkv->n_in / op.n_heads);
  shape.d_ffn = static_cast<int>(first.ffn_up->n_out);
  shape.n_layers = static_cast<int>(op.blocks.size());
  return shape;
}

const ops::DeviceLinear& device_linear(const tensor::Linear* linear) {
  return *static_cast<const ops::DeviceLinear*>(linear->packed);
}

}  // namespace

Encoder8mRunner::Encoder8mRunner(ops::Device& device)
    : device_(device),
      // Where one way of products is asked for, that way is wanted here, too.
      enabled_(tensor::operand_type(device.precision()) != tensor::DType::f32 &&
               std::getenv("BIOGPU_GEMM") == nullptr),
      type_(device.precision() == tensor::Precision::bf16 ? Number16::bf16 : Number16::fp16) {}

const Encoder8mRunner::Weights& Encoder8mRunner::weights_of(const models::esm2::Encode8m& op,
                                                            const Encoder8mShape& shape) {
  const void* const key = op.blocks.front().qkv->packed;
  const auto found = weights_.find(key);
  if (found != weights_.end()) return found->second;
  Weights made;  // kept when it is whole
  made.n_groups = encoder_groups(shape, device_.stream());
  made.packed.reserve(encoder_weights_bytes(shape));
  made.vectors.reserve(encoder_vectors_count(shape));
  for (std::size_t i = 0; i < op.blocks.size(); ++i) {
    const models::esm2::EncoderBlock& block = op.blocks[i];
    const bool last = i + 1 == op.blocks.size();
    const tensor::Norm& next = last ? op.final_norm : op.blocks[i + 1].attention_norm;
    EncoderWeights from;
    from.qkv = device_linear(block.qkv).weight;
    from.qkv_bias = device_linear(block.qkv).bias;
    from.projection = device_linear(block.attention_out).weight;
    from.projection_bias = device_linear(block.attention_out).bias;
    from.up = device_linear(block.ffn_up).weight;
    from.up_bias = device_linear(block.ffn_up).bias;
    from.down = device_linear(block.ffn_down).weight;
    from.down_bias = device_linear(block.ffn_down).bias;
    from.attention_norm_weight = block.attention_norm.weight.as<float>();
    from.attention_norm_bias = block.attention_norm.bias.as<float>();
    from.ffn_norm_weight = block.ffn_norm.weight.as<float>();
    from.ffn_norm_bias = block.ffn_norm.bias.as<float>();
    from.next_norm_weight = next.weight.as<float>();
    launch_pack_small_weights(shape, static_cast<int>(i), from, type_, made.packed.data(),
                              made.vectors.data(), device_.stream());
  }
  return weights_.emplace(key, std::move(made)).first->second;
}

void Encoder8mRunner::reserve(std::size_t bytes) {
  if (bytes <= workspace_.size()) return;
  device_.grow(workspace_, bytes);
  clear_small_room(workspace_.data(), workspace_.size(), device_.stream());
}

bool Encoder8mRunner::run(const models::esm2::Encode8m& op) {
  const tensor::Ragged& segments = *op.segments;
  const Encoder8mShape shape = shape_of(op);
  if (!enabled_ || shape.n_layers == 0 || !suits_encoder_8m(shape, device_.stream())) return false;
  const Weights& weights = weights_of(op, shape);
  const auto n_groups = encoder_group_count(segments.n_rows, segments.n_segments);
  if (n_groups == 0 || n_groups > weights.n_groups) return false;
  Encoder8mArgs args;
  args.n_groups = static_cast<int>(n_groups);
  reserve(encoder_room_bytes(shape, args.n_groups));
  args.shape = shape;
  args.packed = weights.packed.data();
  args.vectors = weights.vectors.data();
  args.table = op.table.as<float>();
  args.ids = op.ids.as<std::int32_t>();
  args.scale = op.scale.as<float>();
  args.starts = segments.device_starts.as<std::int32_t>();
  args.n_sequences = static_cast<int>(segments.n_segments);
  args.cos_sin = op.rotary.cos_sin.as<float>();
  args.score_scale = op.score_scale;
  args.eps = op.final_norm.eps;
  args.norm_weight = op.final_norm.weight.as<float>();
  args.norm_bias = op.final_norm.bias.as<float>();
  args.out = rows_of(op.x);
  args.out_operand = rows_of(op.h);
  args.room = workspace_.data();
  launch_encoder_8m(args, type_, device_.stream());
  return true;
}

void encode_8m(ops::Device& device, const models::esm2::Encode8m& op) {
  *op.ran = device.state<Encoder8mRunner>().run(op);
}

}  // namespace biogpu::gpu::esm2
