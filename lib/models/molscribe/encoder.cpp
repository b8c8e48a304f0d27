#include "lib/models/molscribe/encoder.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "lib/models/layers/patch_embed.hpp"
#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/gather/windows.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models::molscribe {
namespace {

using ops::Activation;
using tensor::Arena;
using tensor::Context;
using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

constexpr float kSwinEps = 1e-5f;
constexpr float kShiftMask = -100;  // added to logits, as the original does
constexpr std::array<double, 3> kMean{0.485, 0.456, 0.406}, kDeviation{0.229, 0.224, 0.225};

Tensor normalised(Context& context, Arena& arena, const Tensor& x, const tensor::Norm& norm) {
  ops::AddLayerNorm op;
  op.x = x;
  op.norm = norm;
  op.out_operand = arena.take(context.compute_dtype(), {x.shape[0], x.shape[1]});
  ops::add_layer_norm(context, op);
  return op.out_operand;
}

// Of the type of x.
Tensor gathered(Context& context, Arena& arena, const Tensor& x, const Tensor& rows) {
  const Tensor out = arena.take(x.dtype, {rows.shape[0], x.shape[1]});
  ops::gather_rows(context, {x, rows, out});
  return out;
}

// Bias of every pair of places of a window for each head, with the mask of the shift: [P, H, n, n].
std::vector<float> position_bias(const HostTensor& table, std::int64_t n_heads,
                                 const ops::ImageWindows& windows) {
  const std::int64_t w = windows.size, n = w * w;
  const std::int64_t n_windows = windows.shift == 0 ? 1 : windows.down() * windows.across();
  const std::vector<float> mask = ops::window_mask(windows, kShiftMask);
  std::vector<float> bias(static_cast<std::size_t>(n_windows * n_heads * n * n));
  float* to = bias.data();
  for (std::int64_t p = 0; p < n_windows; ++p)
    for (std::int64_t head = 0; head < n_heads; ++head)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t row = (i / w - j / w + w - 1) * (2 * w - 1) + i % w - j % w + w - 1;
          const float masked =
              windows.shift == 0 ? 0 : mask[static_cast<std::size_t>((p * n + i) * n + j)];
          *to++ = table.values.data()[row * n_heads + head] + masked;
        }
  return bias;
}

}  // namespace

ImageRows::ImageRows(Context& context, const std::vector<std::int32_t>& rows, std::int64_t n_images)
    : n_rows_(std::ssize(rows) / n_images) {
  rows_ = Tensor(nullptr, DType::i32, {std::ssize(rows)});
  rows_.data = context.allocate(rows_.bytes());
  context.copy_in(rows_, rows.data());
}

SwinEncoder::SwinEncoder(const Config& config, WeightTable& table, Context& context,
                         std::int64_t max_images)
    : window_(config.window), patch_numbers_(config.patch_size * config.patch_size) {
  const std::string root = "encoder.transformer.";
  read_patches(config, table, context);
  patch_norm_ = table.take_norm(context, root + "patch_embed.norm", config.embed_dim, kSwinEps);
  const bool computes = table.maps() == WeightTable::Maps::read;
  if (computes)
    patch_rows_ = ImageRows(
        context,
        ops::patch_rows({max_images, config.input_size, config.input_size}, config.patch_size),
        max_images);
  for (std::size_t s = 0; s < config.n_stages(); ++s) {
    Stage stage{config.resolution(s), config.width(s), config.heads[s], {}, {}, {}, {}, {}, {}};
    const ops::ImageGrid grid{max_images, stage.resolution, stage.resolution};
    for (const bool is_shifted : {false, true}) {
      if (!computes) break;
      const ops::ImageWindows windows{grid, window_, is_shifted ? window_ / 2 : 0};
      stage.window_rows[is_shifted] = ImageRows(context, ops::window_rows(windows), max_images);
      stage.window_places[is_shifted] = ImageRows(context, ops::window_places(windows), max_images);
    }
    for (std::int64_t b = 0; b < config.depths[s]; ++b)
      stage.blocks.push_back(read_block(fmt::format("{}layers.{}.blocks.{}.", root, s, b), stage,
                                        b % 2 == 1, table, context));
    if (s + 1 < config.n_stages()) {
      const std::string name = fmt::format("{}layers.{}.downsample.", root, s);
      stage.merge_norm = table.take_norm(context, name + "norm", 4 * stage.width, kSwinEps);
      const std::array<tensor::LinearPart, 1> merge{{{name + "reduction", 2 * stage.width}}};
      stage.merge = table.take_linear_parts(context, merge, 4 * stage.width, false);
      if (computes)
        stage.merged_rows = ImageRows(context, ops::merged_patch_rows(grid), max_images);
    }
    stages_.push_back(std::move(stage));
  }
  last_norm_ = table.take_norm(context, root + "norm", config.encoder_width(), kSwinEps);
}

// The three planes have the same grey levels, of which the original takes the mean and divides by
// the deviation of each: all of it becomes one plane of weights, and a bias.
void SwinEncoder::read_patches(const Config& config, WeightTable& table, Context& context) {
  const std::string name = "encoder.transformer.patch_embed.proj.";
  const std::int64_t d = config.embed_dim, p = config.patch_size;
  const HostTensor weight = table.take(name + "weight", {d, 3, p, p});
  const HostTensor bias = table.take(name + "bias", {d});
  if (table.maps() != WeightTable::Maps::read || !weight.found || !bias.found) return;
  std::vector<float> folded(static_cast<std::size_t>(d * patch_numbers_)), shift;
  for (std::int64_t o = 0; o < d; ++o) {
    double sum = bias.values.data()[o];
    for (std::int64_t tap = 0; tap < patch_numbers_; ++tap) {
      double of_tap = 0;
      for (std::size_t plane = 0; plane < kMean.size(); ++plane) {
        const double w =
            weight.values.data()[(o * 3 + static_cast<std::int64_t>(plane)) * patch_numbers_ + tap];
        of_tap += w / (255 * kDeviation[plane]);
        sum -= w * kMean[plane] / kDeviation[plane];
      }
      folded[static_cast<std::size_t>(o * patch_numbers_ + tap)] = static_cast<float>(of_tap);
    }
    shift.push_back(static_cast<float>(sum));
  }
  patches_ = context.upload_linear(Tensor(folded.data(), DType::f32, {d, patch_numbers_}),
                                   Tensor(shift.data(), DType::f32, {d}));
  patches_.sum_in_parts = true;
}

SwinEncoder::Block SwinEncoder::read_block(const std::string& name, const Stage& stage,
                                           bool is_shifted, WeightTable& table,
                                           Context& context) const {
  const std::int64_t c = stage.width;
  Block block;
  block.is_shifted = is_shifted;
  block.attention_norm = table.take_norm(context, name + "norm1", c, kSwinEps);
  block.qkv = table.take_linear(context, name + "attn.qkv", 3 * c, c);
  block.projection = table.take_linear(context, name + "attn.proj", c, c);
  block.ffn_norm = table.take_norm(context, name + "norm2", c, kSwinEps);
  block.ffn_up = table.take_linear(context, name + "mlp.fc1", 4 * c, c);
  block.ffn_down = table.take_linear(context, name + "mlp.fc2", c, 4 * c);
  for (const char* buffer : {"attn.relative_position_index", "attn_mask"})
    table.ignore(name + buffer);
  const std::int64_t n_rows = (2 * window_ - 1) * (2 * window_ - 1);
  const HostTensor positions =
      table.take(name + "attn.relative_position_bias_table", {n_rows, stage.n_heads});
  if (table.maps() != WeightTable::Maps::read || !positions.found) return block;
  const ops::ImageWindows windows{
      {1, stage.resolution, stage.resolution}, window_, is_shifted ? window_ / 2 : 0};
  std::vector<float> bias = position_bias(positions, stage.n_heads, windows);
  const std::int64_t n = window_ * window_;
  block.bias =
      context.upload(Tensor(bias.data(), DType::f32,
                            {std::ssize(bias) / (stage.n_heads * n * n), stage.n_heads, n, n}),
                     DType::f32);
  return block;
}

void SwinEncoder::run_block(Context& context, Arena& arena, const Stage& stage, const Block& block,
                            std::int64_t n_images, const Tensor& x) const {
  const auto scope = arena.scope();
  const DType operand = context.compute_dtype();
  const std::int64_t n = window_ * window_, c = stage.width, n_rows = x.shape[0];
  {
    const auto attention = arena.scope();
    const Tensor rows =
        gathered(context, arena, normalised(context, arena, x, block.attention_norm),
                 stage.window_rows[block.is_shifted].of(n_images));
    const Tensor qkv = arena.take(operand, {n_rows, 3 * c}),
                 mixed = arena.take(operand, {n_rows, c});
    ops::gemm(context, {rows, &block.qkv, Activation::none, {}, qkv});
    const auto by_window = [&](const Tensor& of) {  // [windows, n, heads, numbers of a head]
      return tensor::split_axis(tensor::split_axis(of, 1, c / stage.n_heads), 0, n);
    };
    ops::DotProductAttention op;
    op.q = by_window(qkv.slice(1, 0, c));
    op.k = by_window(qkv.slice(1, c, 2 * c));
    op.v = by_window(qkv.slice(1, 2 * c, 3 * c));
    op.scale = 1 / std::sqrt(static_cast<float>(c / stage.n_heads));
    op.bias = block.bias;
    op.out = by_window(mixed);
    ops::dot_product_attention(context, op);
    const Tensor back =
        gathered(context, arena, mixed, stage.window_places[block.is_shifted].of(n_images));
    ops::gemm(context, {back, &block.projection, Activation::none, x, x});
  }
  const Tensor up = arena.take(operand, {n_rows, 4 * c});
  ops::gemm(
      context,
      {normalised(context, arena, x, block.ffn_norm), &block.ffn_up, Activation::gelu_erf, {}, up});
  ops::gemm(context, {up, &block.ffn_down, Activation::none, x, x});
}

void SwinEncoder::run(Context& context, Arena& arena, const Tensor& pixels, std::int64_t n_images,
                      const Tensor& out) const {
  Arena::Lease x;
  {
    const Stage& first = stages_.front();
    const std::int64_t n_rows = n_images * first.resolution * first.resolution;
    x = arena.lease(DType::f32, {n_rows, first.width});
    const auto scope = arena.scope();
    patch_embed(context, {pixels, patch_rows_.of(n_images), &patches_,
                          arena.take(context.compute_dtype(), {n_rows, patch_numbers_}), *x});
    ops::AddLayerNorm norm;
    norm.x = *x;
    norm.norm = patch_norm_;
    norm.out = *x;
    ops::add_layer_norm(context, norm);
  }
  for (const Stage& stage : stages_) {
    for (const Block& block : stage.blocks) run_block(context, arena, stage, block, n_images, *x);
    if (&stage == &stages_.back()) break;
    const std::int64_t n_rows = n_images * stage.resolution * stage.resolution / 4;
    Arena::Lease merged = arena.lease(DType::f32, {n_rows, 2 * stage.width});
    const auto scope = arena.scope();
    const Tensor rows = gathered(context, arena, *x, stage.merged_rows.of(n_images));
    const Tensor four(rows.data, rows.dtype, {n_rows, 4 * stage.width});
    ops::gemm(context, {normalised(context, arena, four, stage.merge_norm),
                        &stage.merge,
                        Activation::none,
                        {},
                        *merged});
    x = std::move(merged);
  }
  ops::AddLayerNorm norm;
  norm.x = *x;
  norm.norm = last_norm_;
  norm.out_operand = out;
  ops::add_layer_norm(context, norm);
}

}  // namespace biogpu::models::molscribe
