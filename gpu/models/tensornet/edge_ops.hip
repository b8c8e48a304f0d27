// TensorNet's operations on edges.
//
// Shapes   see lib/models/tensornet/ops/edge_ops.hpp; E edges, C functions.
// Mapping  radial_table: one thread per 4 numbers (1 where C is no multiple of 4).
//          radial_table_grad: 32 lanes an edge. edge_virial: 32 lanes an atom. Sums over lanes end
//          in a fixed tree.
// Traffic  16 bytes of the table for 4 of a result, from L2 as far as tables fit it; memory bound.
//          No atomics.
// Result   fused products in fp32; the same for all grids and widths.
// Source   own.
// Oracle   lib/models/tensornet/ops/edge_ops_ref.cpp.
#include "lib/models/tensornet/ops/edge_ops.hpp"

#include "gpu/models/tensornet/rows.hpp"
#include "gpu/models/tensornet/table_functions.hpp"
#include "gpu/ops/device.hpp"

namespace biogpu::gpu::tensornet {
namespace {

namespace model = biogpu::models::tensornet;
using ops::kRowBlock;
using ops::row_blocks;
using ops::row_group;
using ops::RowGroup;
using ops::thread_number;

struct TableArrays {
  FunctionTable table;
  const float* distance;
  std::int64_t n_edges;

  template <class Op>
  explicit TableArrays(const Op& op)
      : table(op.table, op.lower, op.upper),
        distance(op.distance.template as<float>()),
        n_edges(op.distance.shape[0]) {}
};

template <int kVector>
__global__ __launch_bounds__(kRowBlock) void radial_table_kernel(TableArrays a, float* out) {
  const RowGroup at = row_group(a.table.n_functions / kVector);
  if (at.row >= a.n_edges) return;
  const int first = at.group * kVector;
  const auto place = a.table.place_of(a.distance[at.row]);
  Channels<kVector> y;
  if (place.inside) {
    const Cubics<kVector> cubics(a.table, place.interval, first);
#pragma unroll
    for (int v = 0; v < kVector; ++v) y.value[v] = cubics.value(v, place.t);
  }
  ops::store_channels(out + at.row * a.table.n_functions + first, y);
}

struct TableGrad {
  TableArrays forward;
  const float *d_out, *previous;  // previous: or null
  float* d_distance;
};

template <int kWave, int kVector>
__global__ __launch_bounds__(kRowBlock) void radial_table_grad_kernel(TableGrad g) {
  const TableArrays& a = g.forward;
  const std::int64_t e = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, n = a.table.n_functions;
  const bool live = e < a.n_edges;  // all lanes take part in the exchange
  const auto place = a.table.place_of(live ? a.distance[e] : a.table.lower);
  float sum = 0;
  for (int c = lane * kVector; live && place.inside && c < n; c += kLanes * kVector) {
    const Cubics<kVector> cubics(a.table, place.interval, c);
    const auto d_out = ops::load_channels<kVector>(g.d_out + e * n + c);
#pragma unroll
    for (int v = 0; v < kVector; ++v) sum += d_out.value[v] * cubics.slope(v, place.t);
  }
  sum = sum_of_lanes<kWave>(sum);
  if (live && lane == 0)
    g.d_distance[e] = (g.previous != nullptr ? g.previous[e] : 0.0f) + sum * place.scale;
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

template <int kVector>
void launch_table(const TableArrays& arrays, float* out, Stream& stream) {
  stream.launch(radial_table_kernel<kVector>,
                row_blocks(arrays.n_edges * (arrays.table.n_functions / kVector)), kRowBlock,
                arrays, out);
}

template <int kVector>
void launch_table_grad(const TableGrad& grad, Stream& stream) {
  const auto kernel = stream.wave_width() == 64 ? radial_table_grad_kernel<64, kVector>
                                                : radial_table_grad_kernel<32, kVector>;
  stream.launch(kernel, row_blocks(grad.forward.n_edges * kLanes), kRowBlock, grad);
}

}  // namespace

void radial_table(ops::Device& device, const model::RadialTable& op) {
  const TableArrays arrays(op);
  if (arrays.n_edges == 0) return;
  arrays.table.n_functions % 4 == 0 ? launch_table<4>(arrays, op.out.as<float>(), device.stream())
                                    : launch_table<1>(arrays, op.out.as<float>(), device.stream());
}

void radial_table_grad(ops::Device& device, const model::RadialTableGrad& op) {
  const TableGrad grad{TableArrays(op), op.d_out.as<float>(), op.previous.as<float>(),
                       op.d_distance.as<float>()};
  if (grad.forward.n_edges == 0) return;
  grad.forward.table.n_functions % 4 == 0 ? launch_table_grad<4>(grad, device.stream())
                                          : launch_table_grad<1>(grad, device.stream());
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
