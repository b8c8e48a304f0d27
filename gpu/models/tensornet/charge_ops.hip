// TensorNet2's operations on charges of atoms.
//
// Shapes   see lib/models/tensornet/ops/charge_ops.hpp; T atoms, F channels, C kinds of charge.
// Mapping  charge_features: one thread an atom and channel; charge_balance: 32 lanes a system and
//          kind of charge; coulomb: 32 lanes an atom; coulomb_grad: 32 lanes an atom, which take
//          the kinds of charge of each edge. Sums over lanes end in a fixed tree.
// Traffic  a few bytes for each operation; memory bound. No atomics.
// Result   fused products in fp32; the same for all grids and widths.
// Source   TensorNet2 of torchmd-net; charges after Zubatyuk et al. 2021, doi
//          10.1038/s41467-021-24904-0.
// Oracle   lib/models/tensornet/ops/charge_ops_ref.cpp.
#include "lib/models/tensornet/ops/charge_ops.hpp"

#include "gpu/models/tensornet/rows.hpp"
#include "gpu/ops/device.hpp"

#define BIOGPU_COULOMB_FUNCTION __device__ __forceinline__
#include "lib/models/tensornet/ops/coulomb_pair.hpp"

namespace biogpu::gpu::tensornet {
namespace {

namespace model = biogpu::models::tensornet;
using model::CoulombPair;
using ops::kRowBlock;
using ops::load_numbers;
using ops::Numbers;
using ops::row_group;
using ops::RowGroup;
using ops::store_numbers;
using ops::TensorGrid;
using ops::thread_number;

__global__ __launch_bounds__(kRowBlock) void charge_features_kernel(float* out, const float* x,
                                                                    TensorGrid grid) {
  const RowGroup place = row_group(grid.d);
  if (place.row >= grid.n_atoms) return;
  const Numbers numbers = load_numbers(x, place.row * grid.d + place.group, grid.step());
  const auto norms = biogpu::ops::norms(numbers);
  float* const to = out + 3 * place.row * grid.d + place.group;
  to[0] = numbers.n[0];
  to[grid.d] = norms.antisymmetric;
  to[2 * grid.d] = norms.symmetric;
}

__global__ __launch_bounds__(kRowBlock) void charge_features_grad_kernel(float* d_x, const float* x,
                                                                         const float* d_out,
                                                                         TensorGrid grid) {
  const RowGroup place = row_group(grid.d);
  if (place.row >= grid.n_atoms) return;
  const std::int64_t at = place.row * grid.d + place.group, step = grid.step();
  const float* const g = d_out + 3 * place.row * grid.d + place.group;
  const biogpu::ops::Norms3<float> d_norms{0.0f, g[grid.d], g[2 * grid.d]};
  Numbers sum = biogpu::ops::norms_grad(load_numbers(x, at, step), d_norms);
  sum.n[0] = g[0];
  const Numbers before = load_numbers(d_x, at, step);
#pragma unroll
  for (int c = 0; c < 9; ++c) sum.n[c] += before.n[c];
  store_numbers(d_x, at, step, sum);
}

struct BalanceArrays {
  const float *x, *total;
  const std::int32_t* starts;
  const float* d_out;             // of the gradient
  float* out;                     // charges, or d_x
  std::int64_t n_groups, stride;  // stride: of rows of charges
  int n_kinds;
};

template <int kWave, bool kGradient>
__global__ __launch_bounds__(kRowBlock) void charge_balance_kernel(BalanceArrays a) {
  const std::int64_t group = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = group < a.n_groups;  // all lanes take part in the exchange
  const std::int64_t system = live ? group / a.n_kinds : 0, c = live ? group % a.n_kinds : 0;
  const std::int64_t begin = live ? a.starts[system] : 0, end = live ? a.starts[system + 1] : 0;
  const std::int64_t width = 2 * a.n_kinds;
  float charge = 0, softness = 0, mixed = 0;
  for (std::int64_t i = begin + lane; i < end; i += kLanes) {
    const float f = a.x[i * width + a.n_kinds + c];
    charge += a.x[i * width + c];
    softness += f * f;
    if constexpr (kGradient) mixed += a.d_out[i * a.stride + c] * f * f;
  }
  charge = sum_of_lanes<kWave>(charge);
  softness = sum_of_lanes<kWave>(softness) + 1e-6f;
  if constexpr (kGradient) mixed = sum_of_lanes<kWave>(mixed) / softness;
  for (std::int64_t i = begin + lane; i < end; i += kLanes) {
    const float f = a.x[i * width + a.n_kinds + c];
    const float share = (a.total[i] - charge) / softness;
    if constexpr (kGradient) {
      const float off = a.d_out[i * a.stride + c] - mixed;
      a.out[i * width + c] = off;
      a.out[i * width + a.n_kinds + c] = 2.0f * f * share * off;
    } else {
      a.out[i * a.stride + c] = a.x[i * width + c] + f * f * share;
    }
  }
}

struct CoulombArrays {
  const float *charges, *weights, *distance;
  const std::int32_t *starts, *neighbours;
  float cutoff;
  float *out, *d_charges, *d_distance;  // out, or the others
  std::int64_t n_atoms, stride;         // of out
  int n_kinds;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void coulomb_kernel(CoulombArrays a) {
  const std::int64_t i = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = i < a.n_atoms;
  const std::int64_t begin = live ? a.starts[i] : 0, end = live ? a.starts[i + 1] : 0;
  const float* const of_i = a.charges + (live ? i : 0) * a.n_kinds;
  float sum = 0;
  for (std::int64_t e = begin + lane; e < end; e += kLanes) {
    const float* const of_j = a.charges + std::int64_t{a.neighbours[e]} * a.n_kinds;
    float product = 0;
    for (int c = 0; c < a.n_kinds; ++c) product += a.weights[c] * of_i[c] * of_j[c];
    sum += CoulombPair<float>(a.distance[e], a.cutoff).value * product;
  }
  sum = sum_of_lanes<kWave>(sum);
  if (live && lane == 0) a.out[i * a.stride] += sum;
}

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void coulomb_grad_kernel(CoulombArrays a) {
  const std::int64_t i = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = i < a.n_atoms;
  const std::int64_t begin = live ? a.starts[i] : 0, end = live ? a.starts[i + 1] : 0;
  const float* const of_i = a.charges + (live ? i : 0) * a.n_kinds;
  for (std::int64_t e = begin + lane; e < end; e += kLanes) {
    const float* const of_j = a.charges + std::int64_t{a.neighbours[e]} * a.n_kinds;
    float product = 0;
    for (int c = 0; c < a.n_kinds; ++c) product += a.weights[c] * of_i[c] * of_j[c];
    a.d_distance[e] = CoulombPair<float>(a.distance[e], a.cutoff).slope * product;
  }
  for (int c = lane; live && c < a.n_kinds; c += kLanes) {
    float sum = 0;
    for (std::int64_t e = begin; e < end; ++e)
      sum += CoulombPair<float>(a.distance[e], a.cutoff).value *
             a.charges[std::int64_t{a.neighbours[e]} * a.n_kinds + c];
    a.d_charges[i * a.n_kinds + c] = 2.0f * a.weights[c] * sum;
  }
}

template <class Op>
CoulombArrays coulomb_arrays(const Op& op) {
  return {op.charges.template as<float>(),
          op.weights.template as<float>(),
          op.edges->distance.template as<float>(),
          op.edges->starts.template as<std::int32_t>(),
          op.edges->neighbours.template as<std::int32_t>(),
          static_cast<float>(op.cutoff),
          nullptr,
          nullptr,
          nullptr,
          op.charges.shape[0],
          0,
          static_cast<int>(op.charges.shape[1])};
}

}  // namespace

void charge_features(ops::Device& device, const model::ChargeFeatures& op) {
  if (op.x.size() == 0) return;
  device.stream().launch(charge_features_kernel, grid_of(op.x).blocks(), kRowBlock,
                         op.out.as<float>(), op.x.as<float>(), grid_of(op.x));
}

void charge_features_grad(ops::Device& device, const model::ChargeFeaturesGrad& op) {
  if (op.x.size() == 0) return;
  device.stream().launch(charge_features_grad_kernel, grid_of(op.x).blocks(), kRowBlock,
                         op.d_x.as<float>(), op.x.as<float>(), op.d_out.as<float>(), grid_of(op.x));
}

void charge_balance(ops::Device& device, const model::ChargeBalance& op) {
  const int n_kinds = static_cast<int>(op.x.shape[1] / 2);
  const BalanceArrays arrays{op.x.as<float>(),
                             op.total.as<float>(),
                             op.starts.as<std::int32_t>(),
                             nullptr,
                             op.out.as<float>(),
                             (op.starts.shape[0] - 1) * n_kinds,
                             op.out.stride[0],
                             n_kinds};
  launch_rows(device.stream(), charge_balance_kernel<32, false>, charge_balance_kernel<64, false>,
              arrays.n_groups, arrays);
}

void charge_balance_grad(ops::Device& device, const model::ChargeBalanceGrad& op) {
  const int n_kinds = static_cast<int>(op.x.shape[1] / 2);
  const BalanceArrays arrays{op.x.as<float>(),
                             op.total.as<float>(),
                             op.starts.as<std::int32_t>(),
                             op.d_out.as<float>(),
                             op.d_x.as<float>(),
                             (op.starts.shape[0] - 1) * n_kinds,
                             op.d_out.stride[0],
                             n_kinds};
  launch_rows(device.stream(), charge_balance_kernel<32, true>, charge_balance_kernel<64, true>,
              arrays.n_groups, arrays);
}

void coulomb(ops::Device& device, const model::Coulomb& op) {
  CoulombArrays arrays = coulomb_arrays(op);
  arrays.out = op.out.as<float>();
  arrays.stride = op.out.stride[0];
  launch_rows(device.stream(), coulomb_kernel<32>, coulomb_kernel<64>, arrays.n_atoms, arrays);
}

void coulomb_grad(ops::Device& device, const model::CoulombGrad& op) {
  CoulombArrays arrays = coulomb_arrays(op);
  arrays.d_charges = op.d_charges.as<float>();
  arrays.d_distance = op.d_distance.as<float>();
  launch_rows(device.stream(), coulomb_grad_kernel<32>, coulomb_grad_kernel<64>, arrays.n_atoms,
              arrays);
}

}  // namespace biogpu::gpu::tensornet
