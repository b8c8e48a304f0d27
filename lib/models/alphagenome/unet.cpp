#include "lib/models/alphagenome/unet.hpp"

#include <utility>

#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/reduction/max_pool.hpp"

namespace biogpu::models::alphagenome {
namespace {

using ops::Activation;
using ops::MapCode;
using tensor::Arena;
using tensor::DType;
using tensor::Ragged;
using tensor::Tensor;

// What a block's convolution reads.
ops::Activated input_of(const ConvBlock& block, const Tensor& out) {
  return {block.norm.scale, block.norm.shift, Activation::gelu_sigmoid, out};
}

void activate(tensor::Context& context, const ConvBlock& block, const Tensor& x,
              const Tensor& out) {
  ops::map(context, ops::make_map({x, block.norm.scale, block.norm.shift},
                                  {{MapCode::multiply_add, 1, 2}, {MapCode::gelu_sigmoid}}, out));
}

// out = residual + convolution(h); `activated` of it.
void convolve(tensor::Context& context, const Ragged& rows, const ConvBlock& block, const Tensor& h,
              const Tensor& residual, const Tensor& out, const ops::Activated& activated) {
  ops::conv1d(context, {h, &block.conv, kTaps, 1, &rows, nullptr, residual, out, activated});
}

}  // namespace

void encode(Pass& pass, const Config& config, const Weights& weights, const UnetRows& windows,
            const Tensor& trunk, Skips* skips) {
  tensor::Context& context = pass.context();
  Arena& arena = pass.arena();
  const DType operand = context.compute_dtype();
  // The block of the decoder that reads a level: the last one reads level 0.
  const auto skip_of = [&](std::int64_t level) {
    if (skips == nullptr) return ops::Activated{};
    const std::int64_t n_rows = windows.levels[static_cast<std::size_t>(level)].n_rows;
    skips->push_back(arena.lease(operand, {n_rows, config.channels(level)}));
    const auto up = static_cast<std::size_t>(config.n_down_blocks - level);
    return input_of(weights.up[up].skip, *skips->back());
  };

  Arena::Lease pooled, pooled_input;  // of the next level, and what its first convolution reads
  for (std::int64_t level = 0; level <= config.n_down_blocks; ++level) {
    const auto at = static_cast<std::size_t>(level);
    const bool last = level == config.n_down_blocks;
    const Ragged &rows = windows.levels[at], &next_rows = windows.levels[at + 1];
    const std::int64_t channels = config.channels(level);
    const ops::Activated skip = skip_of(level);
    Arena::Lease next, next_input;
    if (!last) {
      next = arena.lease(DType::f32, {next_rows.n_rows, channels});
      next_input = arena.lease(operand, {next_rows.n_rows, channels});
    }
    const auto scope = arena.scope();
    const Tensor x = arena.take(DType::f32, {rows.n_rows, channels});
    const Tensor h = arena.take(operand, {rows.n_rows, channels});
    if (level == 0) {
      ops::conv1d_letters(context, {windows.letters, weights.letters.table, weights.letters.bias,
                                    &rows, x, input_of(weights.first, h)});
      convolve(context, rows, weights.first, h, x, x, skip);
    } else {
      const DownBlock& block = weights.down[at - 1];
      convolve(context, rows, block.block1, *pooled_input, {}, x, {});
      ops::map(context, ops::map_add_fewer(x, *pooled, x));
      activate(context, block.block2, x, h);
      convolve(context, rows, block.block2, h, x, x, skip);
    }
    ops::max_pool(context,
                  {x, 2, &rows, &next_rows, last ? trunk : *next,
                   last ? ops::Activated{} : input_of(weights.down[at].block1, *next_input)});
    pooled = std::move(next);
    pooled_input = std::move(next_input);
  }
}

void decode(Pass& pass, const Config& config, const Weights& weights, const UnetRows& windows,
            const Tensor& x, Skips& skips, const Tensor& decoded) {
  tensor::Context& context = pass.context();
  Arena& arena = pass.arena();
  const DType operand = context.compute_dtype();
  Tensor in = x;  // f32, of the level below
  Arena::Lease in_memory, in_activated;
  in_activated = arena.lease(operand, {x.shape[0], x.shape[1]});
  activate(context, weights.up[0].conv_in, x, *in_activated);
  for (std::int64_t level = config.n_down_blocks; level >= 0; --level) {
    const auto at = static_cast<std::size_t>(level);
    const bool last = level == 0;
    const UpBlock& block = weights.up[static_cast<std::size_t>(config.n_down_blocks - level)];
    const Ragged &rows = windows.levels[at], &coarser = windows.levels[at + 1];
    const std::int64_t channels = config.channels(level);
    Arena::Lease out = arena.lease(DType::f32, {rows.n_rows, channels}), out_activated;
    {
      const auto scope = arena.scope();
      const Tensor below = arena.take(DType::f32, {coarser.n_rows, channels});
      convolve(context, coarser, block.conv_in, *in_activated, {}, below, {});
      ops::map(context,
               ops::make_map({below, in.slice(1, 0, channels)},
                             {{MapCode::add, 1},
                              {MapCode::multiply, ops::Map::kNumber, 0, block.residual_scale}},
                             below));
      ops::gemm(context, {*skips[at], &block.skip.conv, Activation::none, {}, *out});
      skips[at] = {};
      const Tensor h = arena.take(operand, {rows.n_rows, channels});
      ops::repeat_rows(context,
                       {below, 2, &coarser, &rows, *out, *out, input_of(block.conv_out, h)});
      if (last) {
        convolve(context, rows, block.conv_out, h, *out, {}, {{}, {}, Activation::none, decoded});
      } else {
        const UpBlock& next =
            weights.up[static_cast<std::size_t>(config.n_down_blocks - level) + 1];
        out_activated = arena.lease(operand, {rows.n_rows, channels});
        convolve(context, rows, block.conv_out, h, *out, *out,
                 input_of(next.conv_in, *out_activated));
      }
    }
    in_memory = std::move(out);
    in_activated = std::move(out_activated);
    if (!last) in = *in_memory;
  }
}

}  // namespace biogpu::models::alphagenome
