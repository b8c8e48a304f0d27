// Messages of edges: features of a node, turned by the direction of the edge, times its weights.
//
// Shapes   see lib/ops/message_passing/edge_product.hpp; an output has n copies of d numbers and
//          n_rows rows of weights.
// Mapping  one block of 128 threads per edge, outputs one after the other. Threads turn the rows
//          into shared memory; then 128 / n groups of n threads take every (128 / n)th row, a
//          thread its column of weights, and the first group adds up the groups' sums.
// Traffic  the weights of an edge once, consecutive threads consecutive numbers; memory bound.
//          Shared memory: d n_rows + 9 * 128 numbers.
// Result   in an order that the output's rows and copies tell: the same for waves of 32 and 64.
// Limits   d n_rows of an output at most 8,192.
// Source   own.
// Oracle   edge_product_ref, lib/ops/message_passing/edge_product_ref.cpp.
#include <algorithm>
#include <string>

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/kernel.hpp"
#include "lib/ops/message_passing/edge_product.hpp"

namespace biogpu::gpu::ops {
namespace {

using biogpu::ops::EdgePaths;

constexpr int kBlock = 128;
constexpr int kMaxRowNumbers = 8192;

struct EdgeProductArgs {
  const float* x;
  const std::int32_t* sources;
  const float* turns;
  Rows weights;
  float* out;
  std::int64_t x_stride, turns_stride, out_stride, n_edges;
  EdgePaths::Path paths[EdgePaths::kMaxPaths];
  EdgePaths::Output outputs[EdgePaths::kMaxOutputs];
  int n_outputs;
};

// Number i of the rows of an output: number i % d of row i / d.
__device__ float turned_number(const EdgeProductArgs& a, const EdgePaths::Output& to,
                               std::int64_t edge, int i) {
  const int row = i / to.d, k = i % to.d;
  int p = to.first_path;
  while (row >= a.paths[p].row + a.paths[p].n) ++p;
  const EdgePaths::Path path = a.paths[p];
  const float* const x =
      a.x + a.sources[edge] * a.x_stride + path.begin + (row - path.row) * path.d;
  const float* const turns = a.turns + edge * a.turns_stride + path.turn + k;
  float sum = 0;
  for (int j = 0; j < path.d; ++j) sum += x[j] * turns[j * to.d];
  return sum;
}

__global__ __launch_bounds__(kBlock) void edge_product_kernel(EdgeProductArgs a) {
  BIOGPU_DYNAMIC_SHARED(float, shared_numbers);
  float* const sums = shared_numbers;  // [kMaxOrder, kBlock]
  float* const rows = shared_numbers + EdgePaths::kMaxOrder * kBlock;
  const std::int64_t edge = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  for (int o = 0; o < a.n_outputs; ++o) {
    const EdgePaths::Output to = a.outputs[o];
    for (int i = thread; i < to.n_rows * to.d; i += kBlock) rows[i] = turned_number(a, to, edge, i);
    __syncthreads();
    for (int first = 0; first < to.n; first += kBlock) {
      const int columns = to.n - first < kBlock ? to.n - first : kBlock;
      const int n_groups = kBlock / columns, group = thread / columns;
      const int column = first + thread % columns;
      float sum[EdgePaths::kMaxOrder] = {};
      if (group < n_groups) {
        for (int u = group; u < to.n_rows; u += n_groups) {
          const float weight = load_element(a.weights, edge, to.weights + u * to.n + column);
#pragma unroll
          for (int k = 0; k < EdgePaths::kMaxOrder; ++k)
            if (k < to.d) sum[k] += rows[u * to.d + k] * weight;
        }
      }
#pragma unroll
      for (int k = 0; k < EdgePaths::kMaxOrder; ++k)
        if (k < to.d) sums[k * kBlock + thread] = sum[k];
      __syncthreads();
      for (int i = thread; i < columns * to.d; i += kBlock) {
        const int v = i / to.d, k = i % to.d;
        float total = 0;
        for (int g = 0; g < n_groups; ++g) total += sums[k * kBlock + g * columns + v];
        a.out[edge * a.out_stride + to.begin + (first + v) * to.d + k] = total;
      }
      __syncthreads();  // before the sums of other columns
    }
  }
}

}  // namespace

void edge_product(Device& device, const biogpu::ops::EdgeProduct& op) {
  EdgeProductArgs a{op.x.as<float>(),
                    op.sources.as<std::int32_t>(),
                    op.turns.as<float>(),
                    rows_of(op.weights),
                    op.out.as<float>(),
                    op.x.stride[0],
                    op.turns.stride[0],
                    op.out.stride[0],
                    op.out.shape[0],
                    {},
                    {},
                    op.paths->n_outputs};
  if (a.n_edges == 0) return;
  std::copy(op.paths->paths.begin(), op.paths->paths.end(), a.paths);
  std::copy(op.paths->outputs.begin(), op.paths->outputs.end(), a.outputs);
  std::int64_t n_numbers = 0;
  for (int o = 0; o < a.n_outputs; ++o) {
    const EdgePaths::Output& to = a.outputs[o];
    n_numbers = std::max(n_numbers, static_cast<std::int64_t>(to.n_rows) * to.d);
  }
  if (n_numbers > kMaxRowNumbers)
    throw DeviceError(DeviceError::Kind::failed, "edge_product: an output has " +
                                                     std::to_string(n_numbers) +
                                                     " numbers of rows; GPUs take up to 8192");
  const std::size_t shared =
      sizeof(float) * (EdgePaths::kMaxOrder * kBlock + static_cast<std::size_t>(n_numbers));
  device.stream().launch_shared(edge_product_kernel, static_cast<std::size_t>(a.n_edges), kBlock,
                                shared, a);
}

}  // namespace biogpu::gpu::ops
