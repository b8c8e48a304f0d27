// The transition of the diffusion module's tokens.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/lab/blocks/conditioned_parts.hpp"
#include "lib/models/structure/diffusion_blocks.hpp"

namespace biogpu::lab {
namespace {

using tensor::Tensor;

constexpr std::int64_t kWidening = 2;

class ConditionedTransitionCase final : public BlockCase {
 public:
  ConditionedTransitionCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c) {
    add_adaptive_norm(weights_, "adaln.", c_);
    weights_.add_linear("linear_nobias_a1", kWidening * c_, c_);
    weights_.add_linear("linear_nobias_a2", kWidening * c_, c_);
    weights_.add_linear("linear_nobias_b", c_, kWidening * c_, 2);
    weights_.add_linear("linear_s", c_, kConditionWidth, 1, true);
  }

  void run(const models::BlockContext& run) override {
    add_conditioned_transition(run, block_, a_.device, s_.device);
  }
  Tensor output() const override { return a_.device; }
  Row start(std::int64_t row) const override { return row_of(a_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const Row s = row_of(s_.values, row, kConditionWidth);
    const Row x = adaptive_norm_of(weights_, "adaln.", start(row), s);
    const Row y = linear_of(silu_product(linear_of(x, weights_.at("linear_nobias_a1")),
                                         linear_of(x, weights_.at("linear_nobias_a2"))),
                            weights_.at("linear_nobias_b"));
    return sum_of(start(row), gated(y, linear_of(s, weights_.at("linear_s"))));
  }

  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_);
    return 6 * kWidening * n * c * c + 6 * n * c * kConditionWidth;
  }
  double bytes() const override {
    return sizeof(float) * static_cast<double>(n_ * (2 * c_ + kConditionWidth)) + weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    models::DiffusionShape shape;
    shape.c = c_;
    shape.c_cond = kConditionWidth;
    shape.n_transition = kWidening;
    block_ = models::read_conditioned_transition(context, table, "block", shape);
  }

  const std::int64_t n_, c_;
  CaseTensor& a_ = add_input({n_, c_});
  CaseTensor& s_ = add_input({n_, kConditionWidth});
  models::ConditionedTransition block_;
};

}  // namespace

std::vector<Block> conditioned_transition() {
  return {{"conditioned-transition",
           "",
           "SwiGLU transition of tokens (diffusion)",
           {{256, 768}, {512, 768}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<ConditionedTransitionCase>(extents, settings);
           }}};
}

}  // namespace biogpu::lab
