// Attention of the diffusion module's tokens, with a bias of pairs.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/lab/blocks/conditioned_parts.hpp"
#include "lib/lab/blocks/pair_bias_heads.hpp"
#include "lib/models/structure/diffusion_blocks.hpp"

namespace biogpu::lab {
namespace {

using tensor::Tensor;

constexpr std::int64_t kPairWidth = 128;

class ConditionedAttentionCase final : public BlockCase {
 public:
  ConditionedAttentionCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c), n_heads_(c_ % 16 == 0 ? 16 : 1) {
    add_adaptive_norm(weights_, "layernorm_a.", c_);
    PairBiasHeads::add_weights(weights_, c_, kPairWidth, n_heads_, false);
    weights_.add_linear("linear_a_last", c_, kConditionWidth, 1, true);
  }

  void run(const models::BlockContext& run) override {
    add_conditioned_attention(run, block_, a_.device, s_.device, z_.device);
  }
  Tensor output() const override { return a_.device; }
  Row start(std::int64_t row) const override { return row_of(a_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const auto norm_at = [&](std::int64_t token) {
      return adaptive_norm_of(weights_, "layernorm_a.", start(token), condition(token));
    };
    PairBiasHeads heads(weights_);
    for (std::int64_t j = 0; j < n_; ++j)
      heads.add_key(norm_at(j), row_of(z_.values, row * n_ + j, kPairWidth));
    const Row y = heads.output(norm_at(row));
    return sum_of(start(row), gated(y, linear_of(condition(row), weights_.at("linear_a_last"))));
  }

  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_);
    return 10 * n * c * c + 6 * n * c * kConditionWidth + 4 * n * n * c +
           2 * n * n * kPairWidth * static_cast<double>(n_heads_);
  }
  double bytes() const override {
    return sizeof(float) *
               static_cast<double>(n_ * (2 * c_ + kConditionWidth) + n_ * n_ * kPairWidth) +
           weights_.bytes();
  }

 private:
  Row condition(std::int64_t token) const { return row_of(s_.values, token, kConditionWidth); }
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    models::DiffusionShape shape;
    shape.c = c_;
    shape.c_cond = kConditionWidth;
    shape.c_pair = kPairWidth;
    shape.n_heads = n_heads_;
    block_ = models::read_conditioned_attention(context, table, "block", shape);
  }

  const std::int64_t n_, c_, n_heads_;
  CaseTensor& a_ = add_input({n_, c_});
  CaseTensor& s_ = add_input({n_, kConditionWidth});
  CaseTensor& z_ = add_input({n_, n_, kPairWidth});
  models::ConditionedAttention block_;
};

}  // namespace

std::vector<Block> conditioned_attention() {
  return {{"conditioned-attention",
           "",
           "attention of tokens with a bias of pairs (diffusion)",
           {{128, 768}, {256, 768}, {512, 768}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<ConditionedAttentionCase>(extents, settings);
           }}};
}

}  // namespace biogpu::lab
