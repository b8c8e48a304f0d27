// The interaction layer of DiffDock, of first and of second order.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/models/structure/tensor_product_layer.hpp"

namespace biogpu::lab {
namespace {

using models::Irrep;
using models::Irreps;
using tensor::Tensor;

constexpr std::int64_t kEdgesOfNode = 12;

// n: nodes; c: scalars of each, with about a fifth as many vectors, as in DiffDock.
models::TensorProductShape shape_of(const Extents& extents, bool second_order) {
  models::TensorProductShape shape;
  const std::int64_t n_vectors = std::max<std::int64_t>(1, extents.c * 10 / 48);
  shape.in = models::diffdock_irreps(extents.c, n_vectors, 3, second_order);
  shape.out = shape.in;
  shape.sphere = {{1, 0, true}, {1, 1, false}};
  if (second_order) shape.sphere.push_back({1, 2, true});
  shape.c_edge = shape.c_hidden = 3 * extents.c;
  return shape;
}

class TensorProductLayerCase final : public BlockCase {
 public:
  TensorProductLayerCase(const Extents& extents, const CaseSettings& settings, bool second_order)
      : BlockCase(settings), n_(extents.n), shape_(shape_of(extents, second_order)) {
    for (const Irrep& in : shape_.in)
      for (const Irrep& direction : shape_.sphere)
        for (const Irrep& out : shape_.out)
          if (couples(in, direction, out)) n_weights_ += in.n * out.n;
    weights_.add_linear("fc.0", shape_.c_hidden, shape_.c_edge, 1, true);
    weights_.add_linear("fc.3", n_weights_, shape_.c_hidden, 2, true);
    std::int64_t n_copies = 0, n_scalars = 0;
    for (const Irrep& irrep : shape_.out) {
      n_copies += irrep.n;
      if (irrep.is_scalar()) n_scalars += irrep.n;
    }
    weights_.add_numbers("batch_norm.weight", around_one(n_copies));
    weights_.add_numbers("batch_norm.running_var", around_one(n_copies));
    weights_.add_numbers("batch_norm.bias", random_.numbers(n_scalars, 0.2f));
    weights_.add_numbers("batch_norm.running_mean", random_.numbers(n_scalars, 0.2f));
  }

  void run(const models::BlockContext& run) override {
    write_tensor_product_layer(
        run, layer_, nodes_.device,
        {sources_.device, targets_.device, features_.device, sphere_.device, edge_weights_.device},
        out_.device);
  }
  Tensor output() const override { return out_.device; }
  Row start(std::int64_t row) const override { return row_of(nodes_.values, row, width_); }
  Row expected(std::int64_t row) const override {
    Row mean(static_cast<std::size_t>(width_));
    double n_edges = 0;
    for (std::int64_t edge = 0; edge < n_edges_; ++edge)
      if (targets_.indices[static_cast<std::size_t>(edge)] == row) {
        mean = sum_of(mean, message(edge));
        ++n_edges;
      }
    for (double& number : mean) number /= std::max(1.0, n_edges);
    return sum_of(start(row), normalised_row(mean));
  }

  double operations() const override {
    double product = 0;
    for (const Irrep& in : shape_.in)
      for (const Irrep& direction : shape_.sphere)
        for (const Irrep& out : shape_.out)
          if (couples(in, direction, out))
            product += 2 * static_cast<double>(in.n * out.d() * (out.n + in.d()));
    const double maps = 2 * static_cast<double>(shape_.c_hidden * (shape_.c_edge + n_weights_));
    return static_cast<double>(n_edges_) * (product + maps);
  }
  double bytes() const override {
    const std::int64_t of_edge = shape_.c_edge + 3 + width_of(shape_.sphere);
    return sizeof(float) * static_cast<double>(2 * n_ * width_ + n_edges_ * of_edge) +
           weights_.bytes();
  }

 private:
  std::vector<float> around_one(std::int64_t n) {
    std::vector<float> numbers = random_.numbers(n, 0.2f);
    for (float& number : numbers) number += 1;
    return numbers;
  }

  // Node 0 has no edges where there are others.
  std::vector<std::int32_t> random_nodes(std::int64_t first) {
    std::vector<std::int32_t> nodes;
    for (std::int64_t edge = 0; edge < n_edges_; ++edge) {
      const auto at =
          static_cast<std::int64_t>((random_.next(0.5f) + 0.5f) * static_cast<float>(n_ - first));
      nodes.push_back(static_cast<std::int32_t>(first + std::min(at, n_ - first - 1)));
    }
    return nodes;
  }

  // As e3nn defines it: for each pair of inputs and each output that they make.
  Row message(std::int64_t edge) const {
    Row hidden = linear_of(row_of(features_.values, edge, shape_.c_edge), weights_.at("fc.0"));
    for (double& number : hidden) number = std::max(number, 0.0);
    const Row w = linear_of(hidden, weights_.at("fc.3"));
    const auto from = sources_.indices[static_cast<std::size_t>(edge)];
    const Row x = row_of(nodes_.values, from, width_),
              y = row_of(sphere_.values, edge, width_of(shape_.sphere));
    Row sum(static_cast<std::size_t>(width_));
    std::size_t weight = 0, in_begin = 0;
    for (const Irrep& in : shape_.in) {
      std::size_t direction_begin = 0;
      for (const Irrep& direction : shape_.sphere) {
        std::size_t out_begin = 0;
        for (const Irrep& out : shape_.out) {
          if (couples(in, direction, out)) {
            add_path(in, direction, out, x.data() + in_begin, y.data() + direction_begin,
                     w.data() + weight, sum.data() + out_begin);
            weight += static_cast<std::size_t>(in.n * out.n);
          }
          out_begin += static_cast<std::size_t>(out.n * out.d());
        }
        direction_begin += static_cast<std::size_t>(direction.n * direction.d());
      }
      in_begin += static_cast<std::size_t>(in.n * in.d());
    }
    const double of_edge = edge_weights_.values[static_cast<std::size_t>(edge)];
    for (double& number : sum) number *= of_edge;
    return sum;
  }

  void add_path(const Irrep& in, const Irrep& direction, const Irrep& out, const double* x,
                const double* y, const double* w, double* sum) const {
    double n_into = 0;
    for (const Irrep& other : shape_.in)
      for (const Irrep& with : shape_.sphere)
        if (couples(other, with, out)) n_into += static_cast<double>(other.n);
    const double size = std::sqrt(static_cast<double>(out.d()) / n_into);
    const std::vector<double> c = models::real_coupling(in.l, direction.l, out.l);
    for (std::int64_t u = 0; u < in.n; ++u)
      for (std::int64_t v = 0; v < out.n; ++v) {
        std::size_t at = 0;
        for (std::int64_t i = 0; i < in.d(); ++i)
          for (std::int64_t j = 0; j < direction.d(); ++j)
            for (std::int64_t k = 0; k < out.d(); ++k)
              sum[v * out.d() + k] += size * c[at++] * x[u * in.d() + i] * y[j] * w[u * out.n + v];
      }
  }

  Row normalised_row(Row row) const {
    const auto& weight = weights_.at("batch_norm.weight").weight;
    const auto& variance = weights_.at("batch_norm.running_var").weight;
    std::size_t at = 0, copy = 0, scalar = 0;
    for (const Irrep& irrep : shape_.out)
      for (std::int64_t u = 0; u < irrep.n; ++u, ++copy) {
        for (std::int64_t k = 0; k < irrep.d(); ++k, ++at) {
          const double mean =
              irrep.is_scalar() ? weights_.at("batch_norm.running_mean").weight[scalar] : 0;
          const double bias = irrep.is_scalar() ? weights_.at("batch_norm.bias").weight[scalar] : 0;
          row[at] = (row[at] - mean) * weight[copy] / std::sqrt(variance[copy] + 1e-5) + bias;
        }
        if (irrep.is_scalar()) ++scalar;
      }
    return row;
  }

  void read(tensor::Context& context, tensor::WeightTable& table) override {
    layer_ = models::read_tensor_product_layer(context, table, "block", shape_);
  }

  const std::int64_t n_;
  const models::TensorProductShape shape_;
  std::int64_t n_weights_ = 0;
  const std::int64_t n_edges_ = kEdgesOfNode * n_, width_ = width_of(shape_.in);
  CaseTensor& nodes_ = add_input({n_, width_});
  CaseTensor& sources_ = add_indices(random_nodes(0));
  CaseTensor& targets_ = add_indices(random_nodes(n_ > 1 ? 1 : 0));
  CaseTensor& features_ = add_input({n_edges_, shape_.c_edge});
  CaseTensor& sphere_ = add_input({n_edges_, width_of(shape_.sphere)});
  CaseTensor& edge_weights_ = add_input({n_edges_});
  CaseTensor& out_ =
      add_values({n_, width_}, std::vector<float>(static_cast<std::size_t>(n_* width_)));
  models::TensorProductLayer layer_;
};

Block block_of(const char* name, const char* description, bool second_order) {
  return {name,
          "",
          description,
          {{64, 24}, {256, 48}},
          [second_order](const Extents& extents, const CaseSettings& settings) {
            return std::make_unique<TensorProductLayerCase>(extents, settings, second_order);
          }};
}

}  // namespace

std::vector<Block> tensor_product_layer() {
  return {block_of("tensor-product-layer", "interaction layer of DiffDock, vectors", false),
          block_of("tensor-product-layer-2", "interaction layer of DiffDock, second order", true)};
}

}  // namespace biogpu::lab
