#include "lib/ops/knn_graph/bench_graph.hpp"

#include <algorithm>
#include <cmath>

namespace biogpu::ops {

BenchGraph::BenchGraph(OpBench& bench)
    : bench_(bench),
      senders_(bench.make_indices(kNodes * kEdges, kNodes)),
      counts_(bench.make_indices(kNodes, 1)),
      present_(bench.make_indices(kNodes, 1)) {
  std::fill(counts_.values.begin(), counts_.values.end(), static_cast<std::int32_t>(kEdges));
  std::fill(present_.values.begin(), present_.values.end(), 0x01010101);
  bench.context().copy_in(counts_.device, counts_.values.data());
  bench.context().copy_in(present_.device, present_.values.data());
}

const BenchTensor& BenchGraph::make(std::initializer_list<std::int64_t> shape, float size) {
  tensors_.push_back(std::make_unique<BenchTensor>(bench_.make(shape, size, false)));
  return *tensors_.back();
}

BenchGraph::Map BenchGraph::map(std::int64_t n_out, std::int64_t n_in, tensor::BlockUse use,
                                bool has_bias) {
  const Tensor weight = make({n_out, n_in}, 2 / std::sqrt(static_cast<float>(n_in))).host;
  const Tensor bias = has_bias ? make({n_out}, 0.5f).host : Tensor();
  return {tensor::upload_block_linear(bench_.context(), weight, bias, use),
          tensor::upload_block_linear(bench_.reference(), weight, bias, use)};
}

BenchGraph::Normalisation BenchGraph::norm() {
  const BenchTensor &weight = make({kWidth}, 1), &bias = make({kWidth}, 1);
  return {{weight.device, bias.device}, {weight.host, bias.host}};
}

Tensor BenchGraph::senders(bool is_device) const {
  return {(is_device ? senders_.device : senders_.host).data, DType::i32, {kNodes, kEdges}};
}
Tensor BenchGraph::counts(bool is_device) const {
  return is_device ? counts_.device : counts_.host;
}
Tensor BenchGraph::present(bool is_device) const {
  return {(is_device ? present_.device : present_.host).data, DType::u8, {kNodes}};
}

}  // namespace biogpu::ops
