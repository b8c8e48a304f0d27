// The transition of pairs, and of tokens.
#include <algorithm>
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/models/structure/pair_blocks.hpp"

namespace biogpu::lab {
namespace {

using tensor::Tensor;

constexpr std::int64_t kWidening = 4;

class TransitionCase : public BlockCase {
 public:
  TransitionCase(const CaseSettings& settings, std::int64_t n_rows, std::int64_t c)
      : BlockCase(settings), n_rows_(n_rows), c_(c) {
    weights_.add_norm("layernorm1", c_);
    weights_.add_linear("linear_no_bias_a", kWidening * c_, c_);
    weights_.add_linear("linear_no_bias_b", kWidening * c_, c_);
    weights_.add_linear("linear_no_bias", c_, kWidening * c_, 2);
  }

  void run(const models::BlockContext& run) override { add_transition(run, block_, x_.device); }
  Tensor output() const override { return x_.device; }
  Row start(std::int64_t row) const override { return row_of(x_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const Row x = norm_of(start(row), weights_.at("layernorm1"));
    const Row gated = silu_product(linear_of(x, weights_.at("linear_no_bias_a")),
                                   linear_of(x, weights_.at("linear_no_bias_b")));
    return sum_of(start(row), linear_of(gated, weights_.at("linear_no_bias")));
  }

  double operations() const override {
    return 6.0 * kWidening * static_cast<double>(n_rows_ * c_ * c_);
  }
  double bytes() const override {
    return 2 * sizeof(float) * static_cast<double>(n_rows_ * c_) + weights_.bytes();
  }

 protected:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    block_ = models::read_transition(context, table, "block", c_, kWidening);
  }

  const std::int64_t n_rows_, c_;
  CaseTensor& x_ = add_input({n_rows_, c_});
  models::Transition block_;
};

class ReluTransitionCase final : public BlockCase {
 public:
  ReluTransitionCase(const CaseSettings& settings, std::int64_t n_rows, std::int64_t c)
      : BlockCase(settings), n_rows_(n_rows), c_(c) {
    weights_.add_norm("layer_norm", c_);
    weights_.add_linear("linear_1", kWidening * c_, c_, 1, true);
    weights_.add_linear("linear_2", c_, kWidening * c_, 2, true);
  }

  void run(const models::BlockContext& run) override { add_transition(run, block_, x_.device); }
  Tensor output() const override { return x_.device; }
  Row start(std::int64_t row) const override { return row_of(x_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    Row inner = linear_of(norm_of(start(row), weights_.at("layer_norm")), weights_.at("linear_1"));
    for (double& number : inner) number = std::max(number, 0.0);
    return sum_of(start(row), linear_of(inner, weights_.at("linear_2")));
  }

  double operations() const override {
    return 4.0 * kWidening * static_cast<double>(n_rows_ * c_ * c_);
  }
  double bytes() const override {
    return 2 * sizeof(float) * static_cast<double>(n_rows_ * c_) + weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    block_ = models::read_transition(context, table, "block", c_, kWidening);
  }

  const std::int64_t n_rows_, c_;
  CaseTensor& x_ = add_input({n_rows_, c_});
  models::Transition block_;
};

}  // namespace

std::vector<Block> transition() {
  return {{"pair-transition",
           "",
           "SwiGLU transition of pairs",
           {{64, 128}, {128, 128}, {256, 128}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<TransitionCase>(settings, extents.n * extents.n, extents.c);
           }},
          {"relu-transition",
           "",
           "ReLU transition of pairs (AlphaFold 2)",
           {{64, 128}, {128, 128}, {256, 128}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<ReluTransitionCase>(settings, extents.n * extents.n,
                                                         extents.c);
           }},
          {"token-transition",
           "",
           "SwiGLU transition of tokens",
           {{256, 384}, {1024, 384}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<TransitionCase>(settings, extents.n, extents.c);
           }}};
}

}  // namespace biogpu::lab
