// Rows of residues and edges through dense layers, with what follows them in the same pass.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/proteinmpnn/cpu/block.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "lib/models/proteinmpnn/cpu/block.hpp"
#include "lib/ops/cpu/tile-inl.hpp"
#include "lib/ops/gemm_panels.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::models::proteinmpnn::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using ops::HWY_NAMESPACE::exp_of;
using ops::HWY_NAMESPACE::F32;
using ops::HWY_NAMESPACE::gelu_erf;
using ops::HWY_NAMESPACE::kTileRows;
using ops::HWY_NAMESPACE::tile_of;
using ops::HWY_NAMESPACE::Vec;

// All rows through one panel after the other; store(row, column, first, second) follows.
template <class Store>
HWY_INLINE void panels(const Dense& layer, const float* x, std::int64_t stride, std::int64_t n_rows,
                       const Store& store) {
  const auto width = static_cast<std::int64_t>(2 * hn::Lanes(F32()));
  for (std::int64_t column = 0; column < layer.n_out; column += width) {
    const float* const panel = layer.packed.data() + column * layer.n_in;
    for (std::int64_t row = 0; row < n_rows; row += kTileRows) {
      const int n = static_cast<int>(std::min<std::int64_t>(kTileRows, n_rows - row));
      tile_of<2>(n, {x + row * stride, stride, 1}, panel, layer.n_in,
                 [&](int r, Vec first, Vec second)
                     HWY_ATTR { store(row + r, column, first, second); });
    }
  }
}

void dense_rows(const Dense& layer, Rows x, std::int64_t n_rows, Rows out, bool gelu) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const float* const bias = layer.bias.data();
  panels(layer, x.data, x.stride, n_rows,
         [&](std::int64_t row, std::int64_t column, Vec first, Vec second) HWY_ATTR {
           first = hn::Add(first, hn::LoadU(f32, bias + column));
           second = hn::Add(second, hn::LoadU(f32, bias + column + lanes));
           if (gelu) {
             first = gelu_erf(first);
             second = gelu_erf(second);
           }
           float* const to = out.data + row * out.stride + column;
           hn::StoreU(first, f32, to);
           hn::StoreU(second, f32, to + lanes);
         });
}

void dense_ends_rows(const Dense& layer, const float* x, std::int64_t n_rows, const Ends& ends,
                     float* out) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  panels(layer, x, layer.n_in, n_rows,
         [&](std::int64_t row, std::int64_t column, Vec first, Vec second) HWY_ATTR {
           const float* const residue = ends.of_residue + column;
           const float* const neighbour = ends.of_neighbours[row] + column;
           float* const to = out + row * layer.n_out + column;
           first = hn::Add(hn::Add(first, hn::LoadU(f32, residue)), hn::LoadU(f32, neighbour));
           second = hn::Add(hn::Add(second, hn::LoadU(f32, residue + lanes)),
                            hn::LoadU(f32, neighbour + lanes));
           hn::StoreU(gelu_erf(first), f32, to);
           hn::StoreU(gelu_erf(second), f32, to + lanes);
         });
}

void add_ends_rows(const float* x, std::int64_t n_rows, std::int64_t width, const Ends& ends,
                   float* out) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const float* const neighbour = ends.of_neighbours[row];
    for (std::int64_t c = 0; c < width; c += lanes) {
      const Vec sum =
          hn::Add(hn::Add(hn::LoadU(f32, x + row * width + c), hn::LoadU(f32, ends.of_residue + c)),
                  hn::LoadU(f32, neighbour + c));
      hn::StoreU(gelu_erf(sum), f32, out + row * width + c);
    }
  }
}

// Rows are added in their order, one panel at a time: tiles of any height give the same sums.
void dense_sum_rows(const Dense& layer, const float* x, std::int64_t n_rows,
                    const std::uint8_t* use, float* sum) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  std::fill(sum, sum + layer.n_out, 0.0f);
  panels(layer, x, layer.n_in, n_rows,
         [&](std::int64_t row, std::int64_t column, Vec first, Vec second) HWY_ATTR {
           if (use != nullptr && use[row] == 0) return;
           const float* const bias = layer.bias.data() + column;
           float* const to = sum + column;
           first = gelu_erf(hn::Add(first, hn::LoadU(f32, bias)));
           second = gelu_erf(hn::Add(second, hn::LoadU(f32, bias + lanes)));
           hn::StoreU(hn::Add(hn::LoadU(f32, to), first), f32, to);
           hn::StoreU(hn::Add(hn::LoadU(f32, to + lanes), second), f32, to + lanes);
         });
}

void add_norm_rows(const Norm& norm, Rows h, Rows x, std::int64_t n_rows) {
  const F32 f32;
  const std::size_t lanes = hn::Lanes(f32), width = norm.weight.size();
  for (std::int64_t row = 0; row < n_rows; ++row) {
    float* const to = h.data + row * h.stride;
    const float* const add = x.data == nullptr ? nullptr : x.data + row * x.stride;
    Vec sum = hn::Zero(f32), squares = hn::Zero(f32);
    for (std::size_t c = 0; c < width; c += lanes) {
      Vec value = hn::LoadU(f32, to + c);
      if (add != nullptr) value = hn::Add(value, hn::LoadU(f32, add + c));
      hn::StoreU(value, f32, to + c);
      sum = hn::Add(sum, value);
    }
    const float scale = 1.0f / static_cast<float>(width);
    const Vec mean = hn::Set(f32, hn::GetLane(hn::SumOfLanes(f32, sum)) * scale);
    for (std::size_t c = 0; c < width; c += lanes) {
      const Vec distance = hn::Sub(hn::LoadU(f32, to + c), mean);
      squares = hn::MulAdd(distance, distance, squares);
    }
    const float variance = hn::GetLane(hn::SumOfLanes(f32, squares)) * scale;
    const Vec factor = hn::Set(f32, 1.0f / std::sqrt(variance + 1e-5f));
    for (std::size_t c = 0; c < width; c += lanes) {
      const Vec value = hn::Mul(hn::Sub(hn::LoadU(f32, to + c), mean), factor);
      hn::StoreU(hn::MulAdd(value, hn::LoadU(f32, norm.weight.data() + c),
                            hn::LoadU(f32, norm.bias.data() + c)),
                 f32, to + c);
    }
  }
}

void radial_basis_rows(const float* distances, std::int64_t n, float* out) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const Vec step = hn::Set(f32, 20.0f / 15.0f), width = hn::Set(f32, 0.8f);
  for (std::int64_t i = 0; i < n; ++i) {
    const Vec distance = hn::Set(f32, distances[i]);
    for (std::int64_t k = 0; k < kBasis; k += lanes) {
      const Vec center = hn::MulAdd(hn::Iota(f32, static_cast<float>(k)), step, hn::Set(f32, 2.0f));
      const Vec z = hn::Mul(hn::Sub(distance, center), width);
      hn::StoreU(exp_of(hn::Neg(hn::Mul(z, z))), f32, out + i * kBasis + k);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::proteinmpnn::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::proteinmpnn::cpu {

HWY_EXPORT(dense_rows);
HWY_EXPORT(dense_ends_rows);
HWY_EXPORT(add_ends_rows);
HWY_EXPORT(dense_sum_rows);
HWY_EXPORT(add_norm_rows);
HWY_EXPORT(radial_basis_rows);

std::int64_t padded_width(std::int64_t n_out) {
  return ops::count_panels(n_out) * ops::panel_width();
}

Dense make_dense(std::int64_t n_out, std::int64_t n_in, const float* weight, const float* bias) {
  Dense layer;
  layer.n_out = n_out;
  layer.n_in = n_in;
  layer.weight.assign(weight, weight + n_out * n_in);
  layer.packed = Floats(static_cast<std::size_t>(ops::packed_size(n_out, n_in)));
  // A tensor's numbers are not const; packing only reads them.
  ops::pack_weight({const_cast<float*>(weight), tensor::DType::f32, {n_out, n_in}},
                   layer.packed.data());
  layer.bias.assign(static_cast<std::size_t>(padded_width(n_out)), 0.0f);
  if (bias != nullptr) std::copy(bias, bias + n_out, layer.bias.begin());
  return layer;
}

void dense(const Dense& layer, Rows x, std::int64_t n_rows, Rows out, bool gelu) {
  HWY_DYNAMIC_DISPATCH(dense_rows)(layer, x, n_rows, out, gelu);
}
void dense_ends(const Dense& layer, const float* x, std::int64_t n_rows, const Ends& ends,
                float* out) {
  HWY_DYNAMIC_DISPATCH(dense_ends_rows)(layer, x, n_rows, ends, out);
}
void add_ends(const float* x, std::int64_t n_rows, std::int64_t width, const Ends& ends,
              float* out) {
  HWY_DYNAMIC_DISPATCH(add_ends_rows)(x, n_rows, width, ends, out);
}
void dense_sum(const Dense& layer, const float* x, std::int64_t n_rows, const std::uint8_t* use,
               float* sum) {
  HWY_DYNAMIC_DISPATCH(dense_sum_rows)(layer, x, n_rows, use, sum);
}
void add_norm(const Norm& norm, Rows h, Rows x, std::int64_t n_rows) {
  HWY_DYNAMIC_DISPATCH(add_norm_rows)(norm, h, x, n_rows);
}
void radial_basis(const float* distances, std::int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(radial_basis_rows)(distances, n, out);
}

}  // namespace biogpu::models::proteinmpnn::cpu
#endif
