// Triangle attention around both nodes.
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/models/structure/pair_blocks.hpp"

namespace biogpu::lab {
namespace {

using models::Node;
using tensor::Tensor;

class TriangleAttentionCase final : public BlockCase {
 public:
  TriangleAttentionCase(const Extents& extents, const CaseSettings& settings, Node node)
      : BlockCase(settings), n_(extents.n), c_(extents.c), heads_(extents.c), node_(node) {
    weights_.add_norm("layer_norm", c_);
    weights_.add_linear("linear", heads_.n_heads, c_);
    weights_.add_heads("mha", heads_.width(), c_, false);
  }

  void run(const models::BlockContext& run) override {
    add_triangle_attention(run, block_, node_, z_.device, mask_.device);
  }
  Tensor output() const override { return models::rows_of_pairs(z_.device); }
  Row start(std::int64_t row) const override { return row_of(z_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    // Around the ending node i and j of the pair change places, and so do those of all others.
    const bool ending = node_ == Node::ending;
    const std::int64_t i = ending ? row % n_ : row / n_, j = ending ? row / n_ : row % n_;
    const auto index = [&](std::int64_t x, std::int64_t y) {
      return ending ? y * n_ + x : x * n_ + y;
    };
    const auto norm_at = [&](std::int64_t x, std::int64_t y) {
      return norm_of(row_of(z_.values, index(x, y), c_), weights_.at("layer_norm"));
    };
    std::vector<Row> k, v, bias;
    for (std::int64_t other = 0; other < n_; ++other) {
      const Row x = norm_at(i, other);
      k.push_back(linear_of(x, weights_.at("mha.linear_k")));
      v.push_back(linear_of(x, weights_.at("mha.linear_v")));
      bias.push_back(linear_of(norm_at(j, other), weights_.at("linear")));
      if (mask_.values[static_cast<std::size_t>(index(i, other))] == 0)
        for (double& number : bias.back()) number = -1e9;
    }
    const Row x = norm_at(i, j);
    const Row o = attended(linear_of(x, weights_.at("mha.linear_q")), k, v, bias,
                           static_cast<std::size_t>(heads_.n_heads));
    return sum_of(start(row), linear_of(gated(o, linear_of(x, weights_.at("mha.linear_g"))),
                                        weights_.at("mha.linear_o")));
  }

  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_),
                 width = static_cast<double>(heads_.width());
    return 10 * n * n * c * width + 4 * n * n * n * width;
  }
  double bytes() const override {
    return 2 * sizeof(float) * static_cast<double>(n_ * n_ * c_) + weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    models::PairShape shape;
    shape.c_pair = c_;
    shape.n_heads = heads_.n_heads;
    shape.d_head = heads_.d_head;
    block_ = models::read_triangle_attention(context, table, "block", shape);
  }

  const std::int64_t n_, c_;
  const HeadShape heads_;
  const Node node_;
  CaseTensor& z_ = add_input({n_, n_, c_});
  CaseTensor& mask_ = add_mask({n_, n_}, 5);
  models::TriangleAttention block_;
};

}  // namespace

std::vector<Block> triangle_attention() {
  const std::vector<Extents> shapes = {{64, 128}, {128, 128}, {256, 128}};
  const auto around = [](Node node) {
    return [node](const Extents& extents, const CaseSettings& settings) {
      return std::make_unique<TriangleAttentionCase>(extents, settings, node);
    };
  };
  return {{"triangle-attention-start", "", "triangle attention around the starting node", shapes,
           around(Node::starting)},
          {"triangle-attention-end", "", "triangle attention around the ending node", shapes,
           around(Node::ending)}};
}

}  // namespace biogpu::lab
