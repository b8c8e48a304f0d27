// Tensors of atoms out of the distances and directions of their edges, and the gradient.
//
// Shapes   see lib/models/tensornet/ops/radial_embed.hpp; T atoms, F channels.
// Mapping  radial_embed: one thread per atom and 4 channels (1 where F is no multiple of 4), whose
//          9 sums stay in registers through all edges; the direction's numbers are computed by
//          every thread. radial_embed_grad: 32 lanes an edge, lane l taking channels 4 l to
//          4 l + 3, 4 (l + 32), ..., then a fixed tree over the lanes for the direction's 9 numbers
//          and the distance.
// Traffic  48 F bytes of the table an edge, and for the gradient 36 F of d_out, from L2 as far as
//          they fit it; 36 F an atom written. No weight of an edge is stored. No atomics.
// Result   sums in the order of the edges, fused products; the same for all grids and widths.
// Source   own; TensorNet (arXiv 2306.06482).
// Oracle   radial_embed_ref, lib/models/tensornet/ops/radial_embed_ref.cpp.
#include "lib/models/tensornet/ops/radial_embed.hpp"

#include "gpu/models/tensornet/rows.hpp"
#include "gpu/models/tensornet/table_functions.hpp"
#include "gpu/ops/device.hpp"

namespace biogpu::gpu::tensornet {
namespace {

namespace model = biogpu::models::tensornet;
using ops::kRowBlock;
using ops::load_channels;
using ops::Numbers;
using ops::row_blocks;
using ops::row_group;
using ops::RowGroup;

struct EmbedArrays {
  FunctionTable table;
  const float *receiver, *neighbour;
  const std::int32_t* types;
  const float *displacement, *distance;
  const std::int32_t *starts, *receivers, *neighbours;
  std::int64_t n_atoms, capacity;
  int d;

  explicit EmbedArrays(const model::RadialEmbed& op)
      : table(op.table, op.lower, op.upper),
        receiver(op.receiver.as<float>()),
        neighbour(op.neighbour.as<float>()),
        types(op.types.as<std::int32_t>()),
        displacement(op.edges->displacement.as<float>()),
        distance(op.edges->distance.as<float>()),
        starts(op.edges->starts.as<std::int32_t>()),
        receivers(op.edges->receivers.as<std::int32_t>()),
        neighbours(op.edges->neighbours.as<std::int32_t>()),
        n_atoms(op.edges->n_atoms()),
        capacity(op.edges->capacity()),
        d(static_cast<int>(op.receiver.shape[1])) {}

  // Of both atoms' types.
  template <int kVector>
  __device__ __forceinline__ Channels<kVector> factor(std::int64_t i, std::int64_t j,
                                                      int channel) const {
    Channels<kVector> sum = load_channels<kVector>(receiver + std::int64_t{types[i]} * d + channel);
    const Channels<kVector> other =
        load_channels<kVector>(neighbour + std::int64_t{types[j]} * d + channel);
#pragma unroll
    for (int v = 0; v < kVector; ++v) sum.value[v] += other.value[v];
    return sum;
  }
};

template <int kVector>
__global__ __launch_bounds__(kRowBlock) void radial_embed_kernel(EmbedArrays a, float* out) {
  const RowGroup at = row_group(a.d / kVector);
  if (at.row >= a.n_atoms) return;
  const int channel = at.group * kVector;
  Channels<kVector> sums[9];
  const std::int32_t end = a.starts[at.row + 1];
  for (std::int32_t e = a.starts[at.row]; e < end; ++e) {
    const float distance = a.distance[e];
    const auto place = a.table.place_of(distance);
    if (!place.inside) continue;
    const Channels<kVector> factor = a.factor<kVector>(at.row, a.neighbours[e], channel);
    const Numbers numbers = biogpu::ops::direction_numbers(
        biogpu::ops::Direction<float>(a.displacement + 3 * std::int64_t{e}, distance));
#pragma unroll
    for (int p = 0; p < 3; ++p) {
      const Cubics<kVector> cubics(a.table, place.interval, p * a.d + channel);
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        const float weight = factor.value[v] * cubics.value(v, place.t);
#pragma unroll
        for (int c = 0; c < 9; ++c)
          if (ops::message_part<9>(c) == p) sums[c].value[v] += numbers.n[c] * weight;
      }
    }
  }
#pragma unroll
  for (int c = 0; c < 9; ++c)
    ops::store_channels(out + (c * a.n_atoms + at.row) * a.d + channel, sums[c]);
}

struct EmbedGrad {
  EmbedArrays forward;
  const float *d_out, *previous;  // previous: or null
  float *d_distance, *d_displacement;
};

template <int kWave, int kVector>
__global__ __launch_bounds__(kRowBlock) void radial_embed_grad_kernel(EmbedGrad g) {
  const EmbedArrays& a = g.forward;
  const std::int64_t e = ops::thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = e < a.starts[a.n_atoms];  // all lanes take part in the exchange
  const std::int64_t edge = live ? e : 0;
  const float distance = a.distance[edge];
  const auto place = a.table.place_of(distance);
  const biogpu::ops::Direction<float> direction(a.displacement + 3 * edge, distance);
  const Numbers numbers = biogpu::ops::direction_numbers(direction);
  const std::int64_t i = a.receivers[edge], j = a.neighbours[edge];
  Numbers sums{};  // of what each number of the direction gets back
  float slopes = 0;
  for (int f = lane * kVector; live && place.inside && f < a.d; f += kLanes * kVector) {
    const Channels<kVector> factor = a.factor<kVector>(i, j, f);
#pragma unroll
    for (int p = 0; p < 3; ++p) {
      const Cubics<kVector> cubics(a.table, place.interval, p * a.d + f);
      Channels<kVector> d_weight;
#pragma unroll
      for (int c = 0; c < 9; ++c) {
        if (ops::message_part<9>(c) != p) continue;
        const auto d_number = load_channels<kVector>(g.d_out + (c * a.n_atoms + i) * a.d + f);
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          sums.n[c] += factor.value[v] * cubics.value(v, place.t) * d_number.value[v];
          d_weight.value[v] += numbers.n[c] * d_number.value[v];
        }
      }
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        slopes += factor.value[v] * cubics.slope(v, place.t) * d_weight.value[v];
    }
  }
  slopes = sum_of_lanes<kWave>(slopes);
#pragma unroll
  for (int c = 1; c < 9; ++c)  // the scalar part has no direction
    sums.n[c] = sum_of_lanes<kWave>(sums.n[c]);
  float d_r[3];
  biogpu::ops::direction_grad(direction, sums, d_r);
  if (!live) return;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis)
    if (lane == axis) g.d_displacement[3 * e + axis] = d_r[axis];
  if (lane == 3)
    g.d_distance[e] = (g.previous != nullptr ? g.previous[e] : 0.0f) + slopes * place.scale;
}

template <int kVector>
void launch(const EmbedArrays& arrays, float* out, Stream& stream) {
  stream.launch(radial_embed_kernel<kVector>, row_blocks(arrays.n_atoms * (arrays.d / kVector)),
                kRowBlock, arrays, out);
}

template <int kVector>
void launch_grad(const EmbedGrad& grad, Stream& stream) {
  const auto kernel = stream.wave_width() == 64 ? radial_embed_grad_kernel<64, kVector>
                                                : radial_embed_grad_kernel<32, kVector>;
  stream.launch(kernel, row_blocks(grad.forward.capacity * kLanes), kRowBlock, grad);
}

}  // namespace

void radial_embed(ops::Device& device, const model::RadialEmbed& op) {
  if (op.out.size() == 0) return;
  const EmbedArrays arrays(op);
  arrays.d % 4 == 0 ? launch<4>(arrays, op.out.as<float>(), device.stream())
                    : launch<1>(arrays, op.out.as<float>(), device.stream());
}

void radial_embed_grad(ops::Device& device, const model::RadialEmbedGrad& op) {
  const EmbedGrad grad{EmbedArrays(op.forward), op.d_out.as<float>(), op.previous.as<float>(),
                       op.d_distance.as<float>(), op.d_displacement.as<float>()};
  if (grad.forward.capacity == 0) return;
  grad.forward.d % 4 == 0 ? launch_grad<4>(grad, device.stream())
                          : launch_grad<1>(grad, device.stream());
}

}  // namespace biogpu::gpu::tensornet
