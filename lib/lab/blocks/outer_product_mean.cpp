// The outer product mean of an alignment of 32 rows.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/models/structure/msa_blocks.hpp"

namespace biogpu::lab {
namespace {

using tensor::Tensor;

constexpr std::int64_t kRows = 32, kMsaWidth = 64, kOuter = 32;

class OuterProductMeanCase final : public BlockCase {
 public:
  OuterProductMeanCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c) {
    weights_.add_norm("layer_norm", kMsaWidth);
    weights_.add_linear("linear_1", kOuter, kMsaWidth);
    weights_.add_linear("linear_2", kOuter, kMsaWidth);
    // Sums of outer products are about the root of the rows in size.
    weights_.add_linear("linear_out", c_, kOuter * kOuter, 4, true);
  }

  void run(const models::BlockContext& run) override {
    add_outer_product_mean(run, block_, m_.device, mask_.device, z_.device);
  }
  Tensor output() const override { return models::rows_of_pairs(z_.device); }
  Row start(std::int64_t row) const override { return row_of(z_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const std::int64_t i = row / n_, j = row % n_;
    Row outer(static_cast<std::size_t>(kOuter * kOuter));
    double n_both = 1e-3;
    for (std::int64_t s = 0; s < kRows; ++s) {
      if (mask_at(s, i) == 0 || mask_at(s, j) == 0) continue;
      n_both += 1;
      const Row a = side("linear_1", s, i), b = side("linear_2", s, j);
      for (std::size_t p = 0; p < a.size(); ++p)
        for (std::size_t q = 0; q < b.size(); ++q) outer[p * b.size() + q] += a[p] * b[q];
    }
    Row y = linear_of(outer, weights_.at("linear_out"));
    for (double& number : y) number /= n_both;
    return sum_of(start(row), y);
  }

  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_);
    return 4.0 * kRows * n * kMsaWidth * kOuter + 2.0 * n * n * kOuter * kOuter * (kRows + c);
  }
  double bytes() const override {
    return sizeof(float) * static_cast<double>(2 * n_ * n_ * c_ + kRows * n_ * kMsaWidth) +
           weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    models::MsaShape shape;
    shape.c_msa = kMsaWidth;
    shape.c_pair = c_;
    shape.c_outer = kOuter;
    block_ = models::read_outer_product_mean(context, table, "block", shape);
  }
  float mask_at(std::int64_t s, std::int64_t i) const {
    return mask_.values[static_cast<std::size_t>(s * n_ + i)];
  }
  Row side(const char* name, std::int64_t s, std::int64_t i) const {
    return linear_of(norm_of(row_of(m_.values, s * n_ + i, kMsaWidth), weights_.at("layer_norm")),
                     weights_.at(name));
  }

  const std::int64_t n_, c_;
  CaseTensor& m_ = add_input({kRows, n_, kMsaWidth});
  CaseTensor& mask_ = add_mask({kRows, n_}, 5);
  CaseTensor& z_ = add_input({n_, n_, c_});
  models::OuterProductMean block_;
};

}  // namespace

std::vector<Block> outer_product_mean() {
  return {{"outer-product-mean",
           "",
           "outer product mean of 32 rows of an alignment",
           {{64, 128}, {128, 128}, {256, 128}},
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<OuterProductMeanCase>(extents, settings);
           }}};
}

}  // namespace biogpu::lab
