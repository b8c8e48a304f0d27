#pragma once

#include <cstdint>
#include <string>

#include "lib/models/structure/block_parts.hpp"
#include "lib/models/structure/irreps.hpp"
#include "lib/ops/message_passing/edge_product.hpp"

// The interaction layer of DiffDock (Corso et al. 2023, arXiv 2210.01776): a tensor-product
// convolution over the edges of a graph, the mean over the edges of each node, batch norm and
// residual.
namespace biogpu::models {

// A layer of DiffDock of so many scalars and vectors: of the 4 sets of features, which grow with
// the layers, the one at `step` from 0 to 3.
Irreps diffdock_irreps(std::int64_t n_scalars, std::int64_t n_vectors, int step, bool second_order);

struct TensorProductShape {
  Irreps in, sphere, out;  // of nodes, of the direction of an edge, of nodes behind the layer
  std::int64_t c_edge = 0, c_hidden = 0;  // of edges, and of the two maps that make their weights
  bool adds_before_norm = false;          // the older class of DiffDock; else norm, then residual
  // The order of the weights of an edge: for each set of outputs, as DiffDock's own product of
  // first order has it; else for each pair of inputs, as e3nn has it.
  bool by_outputs = false;
};

// w_e = map(relu(hidden(edge))); m_e = the product of x[source] and the edge's direction, weighted
// by w_e; out = norm(mean over the edges of each target of m_e) + x, with zeros behind x.
struct TensorProductLayer {
  TensorProductShape shape;
  tensor::Linear hidden, map;
  tensor::Tensor coupling;      // f32 [width of sphere, sum of d d']
  tensor::Tensor scale, shift;  // f32 [width of out]: batch norm
  ops::EdgePaths paths;         // turns: the direction of an edge times coupling
};

// NAME.fc.0, NAME.fc.3, NAME.batch_norm.{weight, bias, running_mean, running_var}.
TensorProductLayer read_tensor_product_layer(tensor::Context& context, tensor::WeightTable& table,
                                             const std::string& name,
                                             const TensorProductShape& shape);

// A graph whose edge e takes features of node sources[e] to node targets[e].
struct EdgeFeatures {
  tensor::Tensor sources, targets;  // i32 [E]
  tensor::Tensor features;          // f32 [E, c_edge]
  tensor::Tensor sphere;            // f32 [E, width of sphere]
  tensor::Tensor weights;           // f32 [E]: of each message; or empty
};

// nodes: f32 [N, width of in]; out: f32 [M, width of out], contiguous. Nodes without edges get the
// mean 0; without any edge there is no norm in the newer class. M = N: each node has a residual.
void write_tensor_product_layer(const BlockContext& run, const TensorProductLayer& layer,
                                const tensor::Tensor& nodes, const EdgeFeatures& edges,
                                const tensor::Tensor& out);

}  // namespace biogpu::models
