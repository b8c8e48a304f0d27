// Triangle products around both kinds of edges, and the outgoing one with a product for each map.
#include <memory>
#include <string>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/models/structure/pair_blocks.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::lab {
namespace {

using models::Edges;
using ops::MapCode;
using tensor::DType;
using tensor::Tensor;

class TriangleProductCase : public BlockCase {
 public:
  TriangleProductCase(const Extents& extents, const CaseSettings& settings, Edges edges)
      : BlockCase(settings), n_(extents.n), c_(extents.c), edges_(edges) {
    weights_.add_norm("layer_norm_in", c_);
    for (const char* const map : {"linear_a_p", "linear_a_g", "linear_b_p", "linear_b_g"})
      weights_.add_linear(map, c_, c_);
    weights_.add_norm("layer_norm_out", c_);
    weights_.add_linear("linear_z", c_, c_);
    weights_.add_linear("linear_g", c_, c_);
  }

  void run(const models::BlockContext& run) override {
    add_triangle_product(run, block_, edges_, z_.device, mask_.device);
  }
  Tensor output() const override { return models::rows_of_pairs(z_.device); }
  Row start(std::int64_t row) const override { return row_of(z_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    const std::int64_t i = row / n_, j = row % n_;
    Row sums(static_cast<std::size_t>(c_));
    for (std::int64_t k = 0; k < n_; ++k) {
      const bool out = edges_ == Edges::outgoing;
      const Row a = side("linear_a", out ? i : k, out ? k : i);
      const Row b = side("linear_b", out ? j : k, out ? k : j);
      for (std::size_t e = 0; e < sums.size(); ++e) sums[e] += a[e] * b[e];
    }
    const Row y = linear_of(norm_of(sums, weights_.at("layer_norm_out")), weights_.at("linear_z"));
    return sum_of(start(row), gated(y, linear_of(norm_at(i, j), weights_.at("linear_g"))));
  }

  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_);
    return 12 * n * n * c * c + 2 * n * n * n * c;
  }
  // The pairs in and out.
  double bytes() const override {
    return 2 * sizeof(float) * static_cast<double>(n_ * n_ * c_) + weights_.bytes();
  }

 protected:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    block_ = models::read_triangle_product(context, table, "block", {c_, c_});
  }

  const std::int64_t n_, c_;
  const Edges edges_;
  CaseTensor& z_ = add_input({n_, n_, c_});
  CaseTensor& mask_ = add_mask({n_, n_}, 5);
  models::TriangleProduct block_;

 private:
  Row norm_at(std::int64_t i, std::int64_t j) const {
    return norm_of(row_of(z_.values, i * n_ + j, c_), weights_.at("layer_norm_in"));
  }
  Row side(const std::string& name, std::int64_t i, std::int64_t j) const {
    if (mask_.values[static_cast<std::size_t>(i * n_ + j)] == 0)
      return Row(static_cast<std::size_t>(c_));
    const Row x = norm_at(i, j);
    return gated(linear_of(x, weights_.at(name + "_p")), linear_of(x, weights_.at(name + "_g")));
  }
};

// The five maps of a pair as products of their own, whose inputs are read five times.
class SeparateProductsCase final : public TriangleProductCase {
 public:
  using TriangleProductCase::TriangleProductCase;

  void run(const models::BlockContext& run) override {
    const auto scope = run.arena.scope();
    const Tensor rows = models::rows_of_pairs(z_.device), x = normalised(run, rows, block_.norm_in);
    const Tensor seen(mask_.device.data, DType::f32, {n_ * n_, 1});
    const auto by_channel = [&](const Tensor& y) {
      return tensor::permuted(tensor::split_axis(y, 0, n_), {2, 0, 1});
    };
    const auto side = [&](const tensor::Linear& map, const tensor::Linear& gate) {
      const Tensor out = product(run, x, map);
      ops::map(
          run.context,
          ops::make_map({product(run, x, gate), out, seen},
                        {{MapCode::sigmoid}, {MapCode::multiply, 1}, {MapCode::multiply, 2}}, out));
      return by_channel(out);
    };
    const Tensor a = side(maps_[0], maps_[1]), b = side(maps_[2], maps_[3]);
    const Tensor sums = run.arena.take(DType::f32, {n_ * n_, c_});
    ops::matmul(run.context, {a, tensor::transposed(b), by_channel(sums)});
    const Tensor y = product(run, normalised(run, sums, block_.norm_out), block_.out);
    ops::map(run.context, ops::map_gate_shift(product(run, x, maps_[4]), y, rows, rows));
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    TriangleProductCase::read(context, table);
    for (const char* const name : {"block.linear_a_p", "block.linear_a_g", "block.linear_b_p",
                                   "block.linear_b_g", "block.linear_g"})
      maps_.push_back(models::take_map(context, table, name, c_, c_));
  }

  std::vector<tensor::Linear> maps_;
};

}  // namespace

std::vector<Block> triangle_product() {
  const std::vector<Extents> shapes = {{64, 128}, {128, 128}, {256, 128}};
  const auto of_edges = [](Edges edges) {
    return [edges](const Extents& extents, const CaseSettings& settings) {
      return std::make_unique<TriangleProductCase>(extents, settings, edges);
    };
  };
  return {{"triangle-product-out", "", "triangle multiplication, outgoing edges", shapes,
           of_edges(Edges::outgoing)},
          {"triangle-product-out", "separate", "the same with a product for each map", shapes,
           [](const Extents& extents, const CaseSettings& settings) {
             return std::make_unique<SeparateProductsCase>(extents, settings, Edges::outgoing);
           }},
          {"triangle-product-in", "", "triangle multiplication, incoming edges", shapes,
           of_edges(Edges::incoming)}};
}

}  // namespace biogpu::lab
