#pragma once

#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"

namespace biogpu::models {

// A convolution whose stride is its kernel, as a gather and a product: images are cut into patches
// of p x p pixels, filled up with zeros, and each is multiplied by the weights. (Dosovitskiy et al.
// 2021, arXiv 2010.11929)
struct PatchEmbed {
  // f32 or operand [pixels, C], images by rows; or [planes * pixels, 1], images of n planes.
  ops::Tensor pixels;
  ops::Tensor rows;  // i32 [P * n * p * p], of ops::patch_rows(): P patches of all images
  // Weight over a patch's numbers in this order: [n_out, p, p, C] as rows; or, of planes, [n_out,
  // n, p, p], as PyTorch keeps the weights of Conv2d.
  const ops::Linear* linear = nullptr;
  ops::Tensor patches;  // operand [P, n * p * p * C], for what is gathered
  ops::Tensor out;      // f32 or operand [P, n_out]
};

inline void patch_embed(ops::Context& context, const PatchEmbed& embed) {
  const std::int64_t channels = embed.pixels.shape[1];
  const ops::Tensor gathered(embed.patches.data, embed.patches.dtype,
                             {embed.patches.size() / channels, channels});
  ops::gather_rows(context, {embed.pixels, embed.rows, gathered});
  ops::Gemm product;
  product.x = embed.patches;
  product.linear = embed.linear;
  product.out = embed.out;
  ops::gemm(context, product);
}

}  // namespace biogpu::models
