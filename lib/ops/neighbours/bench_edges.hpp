#pragma once

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// The same graph for the context under test and the reference: the bench's segments are molecules
// at the density of proteins, 0.1 atoms per cubic angstrom, with a cutoff of 4.5 angstrom. The
// memory is the bench's.
struct BenchEdges {
  static constexpr float kCutoff = 4.5f;
  static constexpr std::int64_t kChannels = 128;
  // Whether the bench's shape is one for atoms: their number is that of its rows, and shapes that
  // are only wider would say the same again.
  static bool suits(const OpBench& bench) { return bench.shape().d <= 480; }
  explicit BenchEdges(OpBench& bench);
  BenchEdges(const BenchEdges&) = delete;
  BenchEdges& operator=(const BenchEdges&) = delete;
  ~BenchEdges();

  // Lists the edges on a context.
  void search(Context& context, const Tensor& x, const Edges& edges) const;
  std::int64_t count() const { return *host.count.as<std::int32_t>(); }

  BenchTensor positions;
  Edges host, device;

 private:
  Edges take(Context& context, std::int64_t capacity);
  OpBench& bench_;
  std::vector<std::pair<Context*, void*>> memory_;
};

// A contiguous tensor as rows of its last axis, which OpBench::error() compares.
inline Tensor as_rows(const Tensor& x) {
  const std::int64_t d = x.shape[static_cast<std::size_t>(x.rank) - 1];
  return Tensor(x.data, x.dtype, {x.size() / d, d});
}

}  // namespace biogpu::ops
