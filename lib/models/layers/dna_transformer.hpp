#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/pass.hpp"
#include "lib/ops/activation.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// A transformer over the positions of a window of DNA, whose attention knows distances by a learned
// term (Enformer, Borzoi) or by rotary positions (Flashzoi).
struct DnaTransformerShape {
  std::int64_t width = 0;
  std::int64_t n_heads = 0;
  std::int64_t n_key_heads = 0;  // fewer than n_heads: those that several heads share
  std::int64_t d_key = 0, d_value = 0;
  float eps = 0;  // of layer normalisations

  std::int64_t mixed_width() const { return n_heads * d_value; }
};

// x += attention(norm(x)); x += down(relu(up(norm(x)))).
struct DnaTransformerBlock {
  tensor::Norm attention_norm;
  tensor::Linear qkv;
  float q_scale = 1;             // that is not in qkv
  tensor::Tensor content_bias;   // f32 [heads, d_key]; rotary attention has none of these three
  tensor::Tensor position_bias;  // f32 [heads, d_key]
  tensor::Tensor relative;       // operand [heads, 2 positions - 1, d_key]
  ops::Rotary rotary;            // f32 [positions, rotated numbers], or empty
  tensor::Linear attention_out;
  tensor::Norm ffn_norm;
  tensor::Linear ffn_up, ffn_down;
};

// Names as enformer-pytorch and borzoi-pytorch have them, which are the same: transformer.N.
class DnaTransformerReader {
 public:
  DnaTransformerReader(const DnaTransformerShape& shape, tensor::WeightTable& table,
                       tensor::Context& context)
      : shape_(shape), table_(table), context_(context) {}

  // Of features of relative positions, n_features each; without the product of both, which
  // set_relative() computes when all is known to fit.
  DnaTransformerBlock relative_block(const std::string& name, std::int64_t n_features);
  // Of all blocks, in the order in which they were read. features: [2 positions - 1, n_features].
  void set_relative(const std::vector<double>& features, std::vector<DnaTransformerBlock>& blocks);
  // flash-attn's names; without the table of angles. q_scale is d_key^-1/2.
  DnaTransformerBlock rotary_block(const std::string& name);

 private:
  void take_feed_forward(const std::string& name, DnaTransformerBlock& block);

  const DnaTransformerShape shape_;
  tensor::WeightTable& table_;
  tensor::Context& context_;
  std::vector<tensor::HostTensor> to_relative_;  // of each block
};

// Applies a block to x, f32 [rows, width]. positions: the windows. h: operand [rows, width],
// memory. next: of the result.
void run_dna_transformer_block(Pass& pass, const DnaTransformerShape& shape,
                               const DnaTransformerBlock& block, const tensor::Ragged& positions,
                               const tensor::Tensor& x, const tensor::Tensor& h,
                               const ops::Activated& next);

}  // namespace biogpu::models
