// TensorNet's operations on edges.
//
// Shapes   see lib/models/tensornet/ops/edge_ops.hpp; E edges, C functions, F channels.
// Mapping  radial_table, pair_scale: one thread a number. radial_table_grad: 32 lanes an edge.
//          edge_virial: 32 lanes an atom. Sums over lanes end in a fixed tree.
// Traffic  16 bytes of the table for 4 of a result, from L2 as far as tables fit it; memory bound.
//          No atomics.
// Result   fused products in fp32; the same for all grids and widths.
// Source   own.
// Oracle   lib/models/tensornet/ops/edge_ops_ref.cpp.
#include "lib/models/tensornet/ops/edge_ops.hpp"

#include "gpu/models/tensornet/rows.hpp"
#include "gpu/ops/device.hpp"

#define BIOGPU_TABLE_FUNCTION __device__ __forceinline__
#include "lib/models/tensornet/ops/table_place.hpp"

namespace biogpu::gpu::tensornet {
namespace {

namespace model = biogpu::models::tensornet;
using model::TablePlace;
using ops::kRowBlock;
using ops::row_blocks;
using ops::row_group;
using ops::RowGroup;
using ops::thread_number;

struct Table {
  const float *distance, *table;
  float lower, upper;
  std::int64_t n_edges, n_intervals;
  int n_functions;
};

__global__ __launch_bounds__(kRowBlock) void radial_table_kernel(Table t, float* out) {
  const RowGroup place = row_group(t.n_functions);
  if (place.row >= t.n_edges) return;
  const TablePlace at(t.distance[place.row], t.lower, t.upper, t.n_intervals);
  const std::int64_t n = t.n_functions;
  const float* const a = t.table + at.interval * 4 * n + place.group;
  const float y = a[0] + at.t * (a[n] + at.t * (a[2 * n] + at.t * a[3 * n]));
  out[place.row * n + place.group] = at.inside ? y : 0.0f;
}

struct TableGrad {
  Table table;
  const float *d_out, *previous;  // previous: or null
  float* d_distance;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void radial_table_grad_kernel(TableGrad g) {
  const Table& t = g.table;
  const std::int64_t e = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = e < t.n_edges;  // all lanes take part in the exchange
  const TablePlace at(live ? t.distance[e] : t.lower, t.lower, t.upper, t.n_intervals);
  const std::int64_t n = t.n_functions;
  const float* const a = t.table + at.interval * 4 * n;
  float sum = 0;
  for (int c = lane; live && at.inside && c < t.n_functions; c += kLanes) {
    const float slope = a[n + c] + at.t * (2.0f * a[2 * n + c] + at.t * 3.0f * a[3 * n + c]);
    sum += g.d_out[e * n + c] * slope;
  }
  sum = sum_of_lanes<kWave>(sum);
  if (live && lane == 0)
    g.d_distance[e] = (g.previous != nullptr ? g.previous[e] : 0.0f) + sum * at.scale;
}

struct PairArrays {
  const float *x, *receiver, *neighbour;
  const std::int32_t *types, *receivers, *neighbours;
  float* out;
  std::int64_t n_edges;
  int n_parts, d;
};

__global__ __launch_bounds__(kRowBlock) void pair_scale_kernel(PairArrays a) {
  const RowGroup place = row_group(a.d);
  if (place.row >= a.n_edges) return;
  const std::int64_t i = a.types[a.receivers[place.row]], j = a.types[a.neighbours[place.row]];
  const float scale = a.receiver[i * a.d + place.group] + a.neighbour[j * a.d + place.group];
  for (int p = 0; p < a.n_parts; ++p) {
    const std::int64_t at = (place.row * a.n_parts + p) * a.d + place.group;
    a.out[at] = scale * a.x[at];
  }
}

struct VirialArrays {
  const std::int32_t* starts;
  const float *displacement, *distance, *d_distance, *d_displacement;  // the last: or null
  float* out;
  std::int64_t n_atoms;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void edge_virial_kernel(VirialArrays a) {
  const std::int64_t i = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = i < a.n_atoms;
  const std::int64_t begin = live ? a.starts[i] : 0, end = live ? a.starts[i + 1] : 0;
  float sums[9] = {};
  for (std::int64_t e = begin + lane; e < end; e += kLanes) {
    const float* const r = a.displacement + 3 * e;
    const float along = a.distance[e] > 0 ? a.d_distance[e] / a.distance[e] : 0.0f;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
      float g = along * r[l];
      if (a.d_displacement != nullptr) g += a.d_displacement[3 * e + l];
#pragma unroll
      for (int k = 0; k < 3; ++k) sums[3 * k + l] += r[k] * g;
    }
  }
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float sum = sum_of_lanes<kWave>(sums[k]);
    if (live && lane == 0) a.out[9 * i + k] = sum;
  }
}

Table table_of(const tensor::Tensor& distance, const tensor::Tensor& table, float lower,
               float upper) {
  return {distance.as<float>(),
          table.as<float>(),
          lower,
          upper,
          distance.shape[0],
          table.shape[0],
          static_cast<int>(table.shape[2])};
}

}  // namespace

void radial_table(ops::Device& device, const model::RadialTable& op) {
  const Table table = table_of(op.distance, op.table, op.lower, op.upper);
  if (table.n_edges == 0) return;
  device.stream().launch(radial_table_kernel, row_blocks(table.n_edges * table.n_functions),
                         kRowBlock, table, op.out.as<float>());
}

void radial_table_grad(ops::Device& device, const model::RadialTableGrad& op) {
  const TableGrad grad{table_of(op.distance, op.table, op.lower, op.upper), op.d_out.as<float>(),
                       op.previous.as<float>(), op.d_distance.as<float>()};
  if (grad.table.n_edges == 0) return;
  const auto kernel = device.stream().wave_width() == 64 ? radial_table_grad_kernel<64>
                                                         : radial_table_grad_kernel<32>;
  device.stream().launch(kernel, row_blocks(grad.table.n_edges * kLanes), kRowBlock, grad);
}

void pair_scale(ops::Device& device, const model::PairScale& op) {
  const PairArrays arrays{op.x.as<float>(),
                          op.receiver.as<float>(),
                          op.neighbour.as<float>(),
                          op.types.as<std::int32_t>(),
                          op.edges->receivers.as<std::int32_t>(),
                          op.edges->neighbours.as<std::int32_t>(),
                          op.out.as<float>(),
                          op.x.shape[0],
                          static_cast<int>(op.x.shape[1]),
                          static_cast<int>(op.x.shape[2])};
  if (arrays.n_edges == 0) return;
  device.stream().launch(pair_scale_kernel, row_blocks(arrays.n_edges * arrays.d), kRowBlock,
                         arrays);
}

void edge_virial(ops::Device& device, const model::EdgeVirial& op) {
  const VirialArrays arrays{op.edges->starts.as<std::int32_t>(),
                            op.edges->displacement.as<float>(),
                            op.edges->distance.as<float>(),
                            op.d_distance.as<float>(),
                            op.d_displacement.as<float>(),
                            op.out.as<float>(),
                            op.out.shape[0]};
  if (arrays.n_atoms == 0) return;
  const auto kernel =
      device.stream().wave_width() == 64 ? edge_virial_kernel<64> : edge_virial_kernel<32>;
  device.stream().launch(kernel, row_blocks(arrays.n_atoms * kLanes), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::tensornet
