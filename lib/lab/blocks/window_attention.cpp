// Atoms that attend to the 128 atoms around them.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/lab/blocks/pair_bias_heads.hpp"
#include "lib/models/structure/diffusion_blocks.hpp"

namespace biogpu::lab {
namespace {

using models::kWindowKeys;
using models::kWindowQueries;
using tensor::Tensor;

constexpr std::int64_t kPairWidth = 16;

// n atoms, the last of which need not fill a window.
class WindowAttentionCase final : public BlockCase {
 public:
  WindowAttentionCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings),
        n_atoms_(extents.n),
        n_windows_((extents.n + kWindowQueries - 1) / kWindowQueries),
        c_(extents.c),
        n_heads_(c_ % 4 == 0 ? 4 : 1) {
    weights_.add_norm("layernorm_a", c_);
    PairBiasHeads::add_weights(weights_, c_, kPairWidth, n_heads_);
  }

  void run(const models::BlockContext& run) override {
    add_window_attention(run, block_, a_.device, pair_.device, {});
  }
  Tensor output() const override { return a_.device; }
  Row start(std::int64_t row) const override { return row_of(a_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const auto norm_at = [&](std::int64_t atom) {
      return norm_of(start(atom), weights_.at("layernorm_a"));
    };
    const std::int64_t window = row / kWindowQueries;
    PairBiasHeads heads(weights_);
    for (std::int64_t j = 0; j < kWindowKeys; ++j) {
      const std::int64_t atom = window * kWindowQueries - 48 + j;
      if (atom < 0 || atom >= n_atoms_) continue;
      heads.add_key(norm_at(atom), row_of(pair_.values, row * kWindowKeys + j, kPairWidth));
    }
    return sum_of(start(row), heads.output(norm_at(row)));
  }

  double operations() const override {
    const double n = static_cast<double>(n_windows_ * kWindowQueries), c = static_cast<double>(c_),
                 keys = static_cast<double>(kWindowKeys);
    return 10 * n * c * c + 4 * n * keys * c +
           2 * n * keys * kPairWidth * static_cast<double>(n_heads_);
  }
  double bytes() const override {
    return sizeof(float) * static_cast<double>(n_windows_ * kWindowQueries *
                                               (2 * c_ + kWindowKeys * kPairWidth)) +
           weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    block_ = models::read_window_attention(context, table, "block", c_, kPairWidth, n_heads_);
  }

  const std::int64_t n_atoms_, n_windows_, c_, n_heads_;
  CaseTensor& a_ = add_input({n_atoms_, c_});
  CaseTensor& pair_ = add_input({n_windows_, kWindowQueries, kWindowKeys, kPairWidth});
  models::WindowAttention block_;
};

}  // namespace

std::vector<Block> window_attention() {
  return {{"window-attention",
           "",
           "atoms that attend to the 128 around them",
           {{500, 128}, {2000, 128}, {8000, 128}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<WindowAttentionCase>(extents, settings);
           }}};
}

}  // namespace biogpu::lab
