#include "lib/models/structure/tensor_product_layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/message_passing/edge_product.hpp"
#include "lib/ops/message_passing/segment_order.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"

namespace biogpu::models {
namespace {

using ops::EdgePaths;
using ops::MapCode;
using tensor::Context;
using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

// Weights of edges at a time: 2^25 in fp32 are 128 MB.
constexpr std::int64_t kWeightNumbers = std::int64_t{1} << 25;

// A path, and where e3nn has its weights.
struct FoundPath {
  EdgePaths::Path path;
  std::size_t output = 0, in = 0, sphere = 0;
  std::int64_t stored = 0;
};

std::vector<std::int32_t> starts_of(const Irreps& irreps) {
  std::vector<std::int32_t> starts = {0};
  for (const Irrep& irrep : irreps)
    starts.push_back(starts.back() + static_cast<std::int32_t>(irrep.n * irrep.d()));
  return starts;
}

// Paths in e3nn's order; and, those of each output behind one another, as `to`.
std::vector<FoundPath> find_paths(const TensorProductShape& shape, EdgePaths& to) {
  const std::vector<std::int32_t> in = starts_of(shape.in), out = starts_of(shape.out);
  to.n_outputs = static_cast<std::int32_t>(shape.out.size());
  std::vector<FoundPath> paths;
  std::int32_t stored = 0, turn = 0, weights = 0;
  for (std::size_t o = 0; o < shape.out.size(); ++o)
    to.outputs.at(o) = {
        out[o], static_cast<std::int32_t>(shape.out[o].n), shape.out[o].d(), 0, 0, 0, 0};
  for (std::size_t i = 0; i < shape.in.size(); ++i)
    for (std::size_t j = 0; j < shape.sphere.size(); ++j)
      for (std::size_t o = 0; o < shape.out.size(); ++o) {
        if (!couples(shape.in[i], shape.sphere[j], shape.out[o])) continue;
        EdgePaths::Output& output = to.outputs[o];
        const auto n = static_cast<std::int32_t>(shape.in[i].n);
        const std::int32_t d = shape.in[i].d();
        paths.push_back({{in[i], n, d, turn, output.n_rows}, o, i, j, stored});
        output.n_rows += n;
        stored += n * output.n;
        turn += d * output.d;
      }
  for (std::size_t o = 0; o < shape.out.size(); ++o) {
    EdgePaths::Output& output = to.outputs[o];
    output.weights = weights;
    weights += output.n_rows * output.n;
    output.first_path = to.n_paths;
    for (const FoundPath& found : paths)
      if (found.output == o) to.paths.at(static_cast<std::size_t>(to.n_paths++)) = found.path;
    output.n_paths = to.n_paths - output.first_path;
  }
  return paths;
}

// [width of sphere, columns]: with the size that makes outputs of about 1.
std::vector<float> coupling_of(const TensorProductShape& shape, const EdgePaths& all,
                               const std::vector<FoundPath>& paths) {
  const std::vector<std::int32_t> sphere = starts_of(shape.sphere);
  const std::int64_t n_columns = std::accumulate(
      paths.begin(), paths.end(), std::int64_t{0}, [&](std::int64_t sum, const FoundPath& found) {
        return sum + found.path.d * all.outputs[found.output].d;
      });
  std::vector<float> numbers(static_cast<std::size_t>(sphere.back() * n_columns));
  for (const FoundPath& found : paths) {
    const EdgePaths::Output& output = all.outputs[found.output];
    const Irrep& direction = shape.sphere[found.sphere];
    const std::vector<double> c =
        real_coupling(shape.in[found.in].l, direction.l, shape.out[found.output].l);
    const double size =
        std::sqrt(static_cast<double>(output.d) / static_cast<double>(output.n_rows));
    std::size_t at = 0;
    for (std::int64_t a = 0; a < found.path.d; ++a)
      for (std::int64_t y = 0; y < direction.d(); ++y)
        for (std::int64_t b = 0; b < output.d; ++b)
          numbers[static_cast<std::size_t>((sphere[found.sphere] + y) * n_columns +
                                           found.path.turn + a * output.d + b)] =
              static_cast<float>(size * c[at++]);
  }
  return numbers;
}

// The map that makes the weights of edges, its rows in the order of outputs.
tensor::Linear read_weights_map(Context& context, WeightTable& table, const std::string& name,
                                const TensorProductShape& shape, const TensorProductLayer& layer,
                                const std::vector<FoundPath>& paths) {
  std::int64_t n_weights = 0;
  for (const FoundPath& found : paths)
    n_weights += std::int64_t{found.path.n} * layer.paths.outputs[found.output].n;
  const HostTensor weight = table.take(name + ".weight", {n_weights, shape.c_hidden});
  const HostTensor bias = table.take(name + ".bias", {n_weights});
  const auto upload = [&](const Tensor& rows, const Tensor& offsets) {
    tensor::Linear map = context.upload_linear(rows, offsets);
    map.sum_in_parts = true;
    return map;
  };
  if (shape.by_outputs) return upload(weight.view, bias.view);
  std::vector<float> weights(weight.values.size()), biases(bias.values.size());
  for (const FoundPath& found : paths) {
    const EdgePaths::Output& output = layer.paths.outputs[found.output];
    const std::int64_t to = output.weights + found.path.row * output.n;
    const std::int64_t n = found.path.n * output.n, c = shape.c_hidden;
    std::copy_n(weight.values.data() + found.stored * c, n * c, weights.data() + to * c);
    std::copy_n(bias.values.data() + found.stored, n, biases.data() + to);
  }
  return upload({weights.data(), DType::f32, {n_weights, shape.c_hidden}},
                {biases.data(), DType::f32, {n_weights}});
}

// e3nn's batch norm: only scalars have a mean and a bias.
void read_batch_norm(Context& context, WeightTable& table, const std::string& name,
                     const Irreps& irreps, TensorProductLayer& layer) {
  std::int64_t n_copies = 0, n_scalars = 0;
  for (const Irrep& irrep : irreps) {
    n_copies += irrep.n;
    if (irrep.is_scalar()) n_scalars += irrep.n;
  }
  const HostTensor weight = table.take(name + ".weight", {n_copies}),
                   variance = table.take(name + ".running_var", {n_copies}),
                   bias = table.take(name + ".bias", {n_scalars}),
                   mean = table.take(name + ".running_mean", {n_scalars});
  std::vector<float> scale, shift;
  std::size_t copy = 0, scalar = 0;
  for (const Irrep& irrep : irreps)
    for (std::int64_t i = 0; i < irrep.n; ++i, ++copy) {
      const double size = static_cast<double>(weight.values.data()[copy]) /
                          std::sqrt(static_cast<double>(variance.values.data()[copy]) +
                                    static_cast<double>(kNormEps));
      double offset = 0;
      if (irrep.is_scalar()) {
        offset = static_cast<double>(bias.values.data()[scalar]) -
                 static_cast<double>(mean.values.data()[scalar]) * size;
        ++scalar;
      }
      scale.insert(scale.end(), static_cast<std::size_t>(irrep.d()), static_cast<float>(size));
      shift.insert(shift.end(), static_cast<std::size_t>(irrep.d()), static_cast<float>(offset));
    }
  const std::int64_t width = width_of(irreps);
  layer.scale = context.upload({scale.data(), DType::f32, {width}}, DType::f32);
  layer.shift = context.upload({shift.data(), DType::f32, {width}}, DType::f32);
}

// Messages of edges [n, width of out] from what is known of them.
void write_messages(const BlockContext& run, const TensorProductLayer& layer, const Tensor& nodes,
                    const EdgeFeatures& edges, const Tensor& messages) {
  const auto scope = run.arena.scope();
  Context& context = run.context;
  const std::int64_t n = messages.shape[0];
  const Tensor hidden = take_operand(run, n, layer.hidden.n_out);
  ops::gemm(context,
            {as_operand(run, edges.features), &layer.hidden, ops::Activation::relu, {}, hidden});
  const Tensor weights = product(run, hidden, layer.map);
  if (!edges.weights.empty())
    ops::map(context,
             ops::map_multiply(weights, {edges.weights.data, DType::f32, {n, 1}}, weights));
  const Tensor couplings = run.arena.take(DType::f32, {n, layer.coupling.shape[1]});
  ops::matmul(context, {edges.sphere, layer.coupling, couplings});
  ops::edge_product(context, {nodes, edges.sources, couplings, weights, &layer.paths, messages});
}

Tensor rows_if_given(const Tensor& x, std::int64_t begin, std::int64_t end) {
  return x.empty() ? x : x.slice(0, begin, end);
}

}  // namespace

Irreps diffdock_irreps(std::int64_t n_scalars, std::int64_t n_vectors, int step,
                       bool second_order) {
  Irreps irreps = {{n_scalars, 0, true}};
  if (step > 0) irreps.push_back({n_vectors, 1, false});
  if (step > 0 && second_order) irreps.push_back({n_vectors, 2, true});
  if (step > 1) irreps.push_back({n_vectors, 1, true});
  if (step > 1 && second_order) irreps.push_back({n_vectors, 2, false});
  if (step > 2) irreps.push_back({n_scalars, 0, false});
  return irreps;
}

TensorProductLayer read_tensor_product_layer(Context& context, WeightTable& table,
                                             const std::string& name,
                                             const TensorProductShape& shape) {
  TensorProductLayer layer;
  layer.shape = shape;
  const std::vector<FoundPath> paths = find_paths(shape, layer.paths);
  const std::vector<float> coupling = coupling_of(shape, layer.paths, paths);
  const std::int64_t n_directions = width_of(shape.sphere);
  layer.coupling =
      context.upload({const_cast<float*>(coupling.data()),
                      DType::f32,
                      {n_directions, static_cast<std::int64_t>(coupling.size()) / n_directions}},
                     DType::f32);
  layer.hidden = take_map(context, table, name + ".fc.0", shape.c_hidden, shape.c_edge, true);
  layer.map = read_weights_map(context, table, name + ".fc.3", shape, layer, paths);
  read_batch_norm(context, table, name + ".batch_norm", shape.out, layer);
  return layer;
}

void write_tensor_product_layer(const BlockContext& run, const TensorProductLayer& layer,
                                const Tensor& nodes, const EdgeFeatures& edges, const Tensor& out) {
  const auto scope = run.arena.scope();
  Context& context = run.context;
  const std::int64_t n_edges = edges.targets.shape[0], n_nodes = out.shape[0];
  const std::int64_t width = out.shape[1];
  const Tensor messages = run.arena.take(DType::f32, {n_edges, width});
  const std::int64_t step =
      std::max<std::int64_t>(1, kWeightNumbers / std::max<std::int64_t>(1, layer.map.n_out));
  for (std::int64_t begin = 0; begin < n_edges; begin += step) {
    const std::int64_t end = std::min(begin + step, n_edges);
    const EdgeFeatures some = {edges.sources.slice(0, begin, end),
                               {},
                               edges.features.slice(0, begin, end),
                               edges.sphere.slice(0, begin, end),
                               rows_if_given(edges.weights, begin, end)};
    write_messages(run, layer, nodes, some, messages.slice(0, begin, end));
  }
  const Tensor means = run.arena.take(DType::f32, {n_nodes, width});
  const Tensor starts = run.arena.take(DType::i32, {n_nodes + 1});
  const Tensor order = run.arena.take(DType::i32, {n_edges});
  ops::segment_order(context, {edges.targets, starts, order});
  ops::segment_sum(context, {messages, starts, order, means, true});
  ops::Map map;
  if (layer.shape.adds_before_norm) {
    map = ops::make_map({means, nodes, layer.scale, layer.shift},
                        {{MapCode::add, 1}, {MapCode::multiply_add, 2, 3}}, out);
  } else if (n_edges == 0) {
    map = ops::map_add(means, nodes, out);
  } else {
    map = ops::make_map({means, nodes, layer.scale, layer.shift},
                        {{MapCode::multiply_add, 2, 3}, {MapCode::add, 1}}, out);
  }
  map.inputs[1].zeros_behind = true;
  ops::map(context, map);
}

}  // namespace biogpu::models
