// Attention of tokens with a bias of their pairs.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/lab/blocks/pair_bias_heads.hpp"
#include "lib/models/structure/pair_blocks.hpp"

namespace biogpu::lab {
namespace {

using tensor::Tensor;

constexpr std::int64_t kPairWidth = 128;

class PairBiasAttentionCase final : public BlockCase {
 public:
  PairBiasAttentionCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c), n_heads_(c_ % 16 == 0 ? 16 : 1) {
    weights_.add_norm("layernorm_a", c_);
    PairBiasHeads::add_weights(weights_, c_, kPairWidth, n_heads_);
  }

  void run(const models::BlockContext& run) override {
    add_pair_bias_attention(run, block_, s_.device, z_.device, mask_.device);
  }
  Tensor output() const override { return s_.device; }
  Row start(std::int64_t row) const override { return row_of(s_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const auto norm_at = [&](std::int64_t token) {
      return norm_of(start(token), weights_.at("layernorm_a"));
    };
    PairBiasHeads heads(weights_);
    for (std::int64_t j = 0; j < n_; ++j)
      heads.add_key(norm_at(j), row_of(z_.values, row * n_ + j, kPairWidth),
                    mask_.values[static_cast<std::size_t>(j)] != 0);
    return sum_of(start(row), heads.output(norm_at(row)));
  }

  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_);
    return 10 * n * c * c + 4 * n * n * c + 2 * n * n * kPairWidth * static_cast<double>(n_heads_);
  }
  double bytes() const override {
    return sizeof(float) * static_cast<double>(2 * n_ * c_ + n_ * n_ * kPairWidth) +
           weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    block_ = models::read_pair_bias_attention(context, table, "block", c_, kPairWidth, n_heads_);
  }

  const std::int64_t n_, c_, n_heads_;
  CaseTensor& s_ = add_input({n_, c_});
  CaseTensor& z_ = add_input({n_, n_, kPairWidth});
  CaseTensor& mask_ = add_mask({n_}, 5);
  models::PairBiasAttention block_;
};

}  // namespace

std::vector<Block> pair_bias_attention() {
  return {{"pair-bias-attention",
           "",
           "attention of tokens with a bias of pairs (Pairformer)",
           {{128, 384}, {256, 384}, {512, 384}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<PairBiasAttentionCase>(extents, settings);
           }}};
}

}  // namespace biogpu::lab
