#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "lib/models/base/pass.hpp"
#include "lib/models/tensornet/graph.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::models::tensornet {

// A graph as a pass uploads it, once to measure memory and once to compute: with the pads of its
// capacity, and displacements and distances in the type of the pass.
class HostEdges {
 public:
  HostEdges() = default;
  HostEdges(Graph graph, tensor::DType real) : graph_(std::move(graph)), real_(real) {
    const auto n = static_cast<std::size_t>(capacity());
    for (auto* const numbers : {&graph_.receivers, &graph_.neighbours, &graph_.reverse})
      numbers->resize(n);
    graph_.displacement.resize(3 * n);
    graph_.distance.resize(n);
    if (real == tensor::DType::f64) return;
    displacement_.assign(graph_.displacement.begin(), graph_.displacement.end());
    distance_.assign(graph_.distance.begin(), graph_.distance.end());
  }

  const Graph& graph() const { return graph_; }

  ops::Edges upload(Pass& pass) const {
    const auto real = [&](std::initializer_list<std::int64_t> shape,
                          const std::vector<double>& doubles, const std::vector<float>& floats) {
      if (real_ == tensor::DType::f64) return pass.upload(real_, shape, doubles.data());
      return pass.upload(real_, shape, floats.data());
    };
    ops::Edges edges;
    edges.starts = pass.upload(graph_.edge_starts);
    edges.count =
        pass.upload(std::vector<std::int32_t>{static_cast<std::int32_t>(graph_.n_edges())});
    edges.receivers = pass.upload(graph_.receivers);
    edges.neighbours = pass.upload(graph_.neighbours);
    edges.reverse = pass.upload(graph_.reverse);
    edges.displacement = real({capacity(), 3}, graph_.displacement, displacement_);
    edges.distance = real({capacity()}, graph_.distance, distance_);
    return edges;
  }

 private:
  std::int64_t capacity() const { return ops::edge_capacity(graph_.n_edges()); }

  Graph graph_;
  tensor::DType real_ = tensor::DType::f32;
  std::vector<float> displacement_, distance_;  // empty in double precision
};

}  // namespace biogpu::models::tensornet
