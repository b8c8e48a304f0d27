// The adaptive norm of tokens by what they are conditioned on.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/lab/blocks/conditioned_parts.hpp"
#include "lib/models/structure/diffusion_blocks.hpp"
#include "lib/ops/elementwise/map.hpp"

namespace biogpu::lab {
namespace {

using tensor::Tensor;

class AdaptiveNormCase final : public BlockCase {
 public:
  AdaptiveNormCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c) {
    add_adaptive_norm(weights_, "", c_);
  }

  void run(const models::BlockContext& run) override {
    const auto scope = run.arena.scope();
    const Tensor out = models::adaptive_norm(run, block_, a_.device, s_.device);
    ops::map(run.context, ops::map_copy(out, out_.device));
  }
  Tensor output() const override { return out_.device; }
  Row start(std::int64_t) const override { return {}; }
  Row expected(std::int64_t row) const override {
    return adaptive_norm_of(weights_, "", row_of(a_.values, row, c_),
                            row_of(s_.values, row, kConditionWidth));
  }

  double operations() const override {
    return 4.0 * static_cast<double>(n_ * c_ * kConditionWidth);
  }
  double bytes() const override {
    return sizeof(float) * static_cast<double>(n_ * (2 * c_ + kConditionWidth)) + weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    block_ = models::read_adaptive_norm(context, table, "block", c_, kConditionWidth);
  }

  const std::int64_t n_, c_;
  CaseTensor& a_ = add_input({n_, c_});
  CaseTensor& s_ = add_input({n_, kConditionWidth});
  CaseTensor& out_ = add_input({n_, c_});
  models::AdaptiveNorm block_;
};

}  // namespace

std::vector<Block> adaptive_norm() {
  return {{"adaptive-norm",
           "",
           "adaptive layer norm of tokens (diffusion)",
           {{256, 768}, {512, 768}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<AdaptiveNormCase>(extents, settings);
           }}};
}

}  // namespace biogpu::lab
