#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/tensor/block_linear.hpp"

namespace biogpu::ops {

// A graph as ProteinMPNN has it, for the benches of operations on its edges: nodes of 48 edges each
// and 128 channels. The first is what the reference computes.
class BenchGraph {
 public:
  static constexpr std::int64_t kNodes = 500, kEdges = 48, kWidth = 128;
  static constexpr std::int64_t kFirst = 4;  // nodes of the reference

  // Of the first shape alone: they do not depend on the shape.
  static bool suits(const OpBench& bench) { return bench.shape().d == 320; }
  explicit BenchGraph(OpBench& bench);

  // A map for a device and for the reference, which the bench's context owns.
  struct Map {
    Linear device, host;
  };
  Map map(std::int64_t n_out, std::int64_t n_in, tensor::BlockUse use, bool has_bias);
  struct Normalisation {
    Norm device, host;
  };
  Normalisation norm();
  // Numbers of a kind whose host side stays as long as the graph.
  const BenchTensor& make(std::initializer_list<std::int64_t> shape, float size);

  Tensor senders(bool is_device) const;  // i32 [kNodes, kEdges]
  Tensor counts(bool is_device) const;   // i32 [kNodes]
  Tensor present(bool is_device) const;  // u8 [kNodes]

 private:
  OpBench& bench_;
  std::vector<std::unique_ptr<BenchTensor>> tensors_;
  BenchIndices senders_, counts_, present_;
};

}  // namespace biogpu::ops
