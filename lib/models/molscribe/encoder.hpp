#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/molscribe/config.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::molscribe {

// Row numbers that stay in a context's memory, of up to some number of images: a prefix is that of
// fewer images.
class ImageRows {
 public:
  ImageRows() = default;
  ImageRows(tensor::Context& context, const std::vector<std::int32_t>& rows, std::int64_t n_images);
  // i32, of n images.
  tensor::Tensor of(std::int64_t n_images) const { return rows_.slice(0, 0, n_images * n_rows_); }

 private:
  tensor::Tensor rows_;
  std::int64_t n_rows_ = 0;  // of an image
};

// Swin Transformer with windows that are shifted in every second block, in the last stage too,
// where the shift divides the one window in four. (Liu et al. 2021, arXiv 2103.14030)
class SwinEncoder {
 public:
  // Of up to max_images in a pass.
  SwinEncoder(const Config& config, tensor::WeightTable& table, tensor::Context& context,
              std::int64_t max_images);

  // pixels: f32 [n_images * size * size, 1], grey levels from 0 to 255. out: operand [n_images *
  // n_memory, encoder_width].
  void run(tensor::Context& context, tensor::Arena& arena, const tensor::Tensor& pixels,
           std::int64_t n_images, const tensor::Tensor& out) const;

 private:
  struct Block {
    tensor::Norm attention_norm, ffn_norm;
    tensor::Linear qkv, projection, ffn_up, ffn_down;
    tensor::Tensor bias;  // f32 [1 or windows of an image, heads, n, n]: of positions and the shift
    bool is_shifted = false;
  };
  struct Stage {
    std::int64_t resolution = 0, width = 0, n_heads = 0;
    std::vector<Block> blocks;
    ImageRows window_rows[2], window_places[2];  // without and with the shift
    tensor::Norm merge_norm;                     // behind all stages but the last
    tensor::Linear merge;
    ImageRows merged_rows;
  };

  Block read_block(const std::string& name, const Stage& stage, bool is_shifted,
                   tensor::WeightTable& table, tensor::Context& context) const;
  void read_patches(const Config& config, tensor::WeightTable& table, tensor::Context& context);
  void run_block(tensor::Context& context, tensor::Arena& arena, const Stage& stage,
                 const Block& block, std::int64_t n_images, const tensor::Tensor& x) const;

  std::int64_t window_;
  std::int64_t patch_numbers_;
  ImageRows patch_rows_;
  tensor::Linear patches_;  // of one plane of grey levels
  tensor::Norm patch_norm_, last_norm_;
  std::vector<Stage> stages_;
};

}  // namespace biogpu::models::molscribe
