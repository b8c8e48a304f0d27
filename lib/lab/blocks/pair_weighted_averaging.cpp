// Averages of an alignment's columns, weighted by pairs; 32 rows.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/models/structure/msa_blocks.hpp"

namespace biogpu::lab {
namespace {

using tensor::Tensor;

constexpr std::int64_t kRows = 32, kHeads = 8, kPairWidth = 128;

class PairWeightedAveragingCase final : public BlockCase {
 public:
  PairWeightedAveragingCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c) {
    shape_.c_msa = c_;
    shape_.c_pair = kPairWidth;
    shape_.n_heads = kHeads;
    shape_.d_head = 8;
    weights_.add_norm("layernorm_m", c_);
    weights_.add_norm("layernorm_z", kPairWidth);
    weights_.add_linear("linear_no_bias_z", kHeads, kPairWidth, 2);
    weights_.add_linear("linear_no_bias_mv", width(), c_);
    weights_.add_linear("linear_no_bias_mg", width(), c_);
    weights_.add_linear("linear_no_bias_out", c_, width(), 3);
  }

  void run(const models::BlockContext& run) override {
    add_pair_weighted_averaging(run, block_, m_.device, z_.device, {});
  }
  Tensor output() const override { return models::rows_of_pairs(m_.device); }
  Row start(std::int64_t row) const override { return row_of(m_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const std::int64_t s = row / n_, i = row % n_;
    std::vector<Row> value;
    std::vector<Row> logits(kHeads);
    for (std::int64_t j = 0; j < n_; ++j) {
      value.push_back(linear_of(norm_at(s, j), weights_.at("linear_no_bias_mv")));
      const Row pair =
          norm_of(row_of(z_.values, i * n_ + j, kPairWidth), weights_.at("layernorm_z"));
      const Row by_head = linear_of(pair, weights_.at("linear_no_bias_z"));
      for (std::size_t head = 0; head < kHeads; ++head) logits[head].push_back(by_head[head]);
    }
    Row mean(static_cast<std::size_t>(width()));
    for (std::size_t head = 0; head < kHeads; ++head) {
      softmax_of(logits[head]);
      const auto h = static_cast<std::size_t>(shape_.d_head);
      for (std::size_t j = 0; j < value.size(); ++j)
        for (std::size_t e = head * h; e < (head + 1) * h; ++e)
          mean[e] += logits[head][j] * value[j][e];
    }
    const Row by = linear_of(norm_at(s, i), weights_.at("linear_no_bias_mg"));
    return sum_of(start(row), linear_of(gated(mean, by), weights_.at("linear_no_bias_out")));
  }

  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_),
                 w = static_cast<double>(width());
    return 6.0 * kRows * n * c * w + 2.0 * kRows * n * n * w + 2 * n * n * kPairWidth * kHeads;
  }
  double bytes() const override {
    return sizeof(float) * static_cast<double>(2 * kRows * n_ * c_ + n_ * n_ * kPairWidth) +
           weights_.bytes();
  }

 private:
  std::int64_t width() const { return shape_.n_heads * shape_.d_head; }
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    block_ = models::read_pair_weighted_averaging(context, table, "block", shape_);
  }
  Row norm_at(std::int64_t s, std::int64_t i) const {
    return norm_of(row_of(m_.values, s * n_ + i, c_), weights_.at("layernorm_m"));
  }

  const std::int64_t n_, c_;
  models::MsaShape shape_;
  CaseTensor& m_ = add_input({kRows, n_, c_});
  CaseTensor& z_ = add_input({n_, n_, kPairWidth});
  models::PairWeightedAveraging block_;
};

}  // namespace

std::vector<Block> pair_weighted_averaging() {
  return {{"pair-weighted-averaging",
           "",
           "averages of 32 rows of an alignment, weighted by pairs",
           {{64, 64}, {128, 64}, {256, 64}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<PairWeightedAveragingCase>(extents, settings);
           }}};
}

}  // namespace biogpu::lab
