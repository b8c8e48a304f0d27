// Rows of nodes and edges through linear maps, with what follows them in the same pass.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/proteinmpnn/ops/edge_block.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "lib/models/proteinmpnn/ops/edge_block.hpp"
#include "lib/ops/cpu/panel_work.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/cpu/tile-inl.hpp"
#include "lib/ops/gemm/gemm_panels.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::models::proteinmpnn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using ops::HWY_NAMESPACE::F32;
using ops::HWY_NAMESPACE::for_vectors;
using ops::HWY_NAMESPACE::gelu_erf;
using ops::HWY_NAMESPACE::kTileRows;
using ops::HWY_NAMESPACE::normalise;
using ops::HWY_NAMESPACE::tile_of;
using ops::HWY_NAMESPACE::Vec;

// All rows through one panel after the other; store(row, column, first, second) follows.
template <class Store>
HWY_INLINE void through_panels(const Linear& linear, const float* x, std::int64_t stride,
                               std::int64_t n_rows, const Store& store) {
  const auto width = static_cast<std::int64_t>(2 * hn::Lanes(F32()));
  const auto* const packed = static_cast<const float*>(linear.packed);
  for (std::int64_t column = 0; column < linear.n_out; column += width) {
    const float* const panel = packed + column * linear.n_in;
    for (std::int64_t row = 0; row < n_rows; row += kTileRows) {
      const int n = static_cast<int>(std::min<std::int64_t>(kTileRows, n_rows - row));
      tile_of<2>(n, {x + row * stride, stride, 1}, panel, linear.n_in,
                 [&](int r, Vec first, Vec second)
                     HWY_ATTR { store(row + r, column, first, second); });
    }
  }
}

void multiply_edge_rows(const Linear& linear, const EdgeRows& rows, float* out) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  through_panels(linear, rows.edges, rows.stride, rows.n,
                 [&](std::int64_t row, std::int64_t column, Vec first, Vec second) HWY_ATTR {
                   const float* const receiver = rows.receiver + column;
                   const float* const sender = rows.senders[row] + column;
                   float* const to = out + row * linear.n_out + column;
                   first =
                       hn::Add(hn::Add(first, hn::LoadU(f32, receiver)), hn::LoadU(f32, sender));
                   second = hn::Add(hn::Add(second, hn::LoadU(f32, receiver + lanes)),
                                    hn::LoadU(f32, sender + lanes));
                   hn::StoreU(gelu_erf(first), f32, to);
                   hn::StoreU(gelu_erf(second), f32, to + lanes);
                 });
}

constexpr std::int64_t kRowsAhead = 3;  // to prefetch

void add_edge_ends(const EdgeRows& rows, std::int64_t d, float* out) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  for (std::int64_t row = 0; row < rows.n; ++row) {
    const float* const edge = rows.edges + row * rows.stride;
    const float* const sender = rows.senders[row];
    // Rows lie far apart, senders in any order: the hardware does not guess the next.
    const std::int64_t ahead = std::min(row + kRowsAhead, rows.n - 1);
    const float* const later_edge = rows.edges + ahead * rows.stride;
    const float* const later_sender = rows.senders[ahead];
    for (std::int64_t c = 0; c < d; c += lanes) {
      hwy::Prefetch(later_edge + c);
      hwy::Prefetch(later_sender + c);
      const Vec sum = hn::Add(hn::Add(hn::LoadU(f32, edge + c), hn::LoadU(f32, rows.receiver + c)),
                              hn::LoadU(f32, sender + c));
      hn::StoreU(gelu_erf(sum), f32, out + row * d + c);
    }
  }
}

// Rows are added in their order, one panel at a time: tiles of any height give the same sums.
void sum_message_rows(const Linear& middle, const float* x, std::int64_t n_rows,
                      const std::uint8_t* use, float* sum) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const float* const all_bias = middle.bias.as<float>();
  std::fill(sum, sum + middle.n_out, 0.0f);
  through_panels(middle, x, middle.n_in, n_rows,
                 [&](std::int64_t row, std::int64_t column, Vec first, Vec second) HWY_ATTR {
                   if (use != nullptr && use[row] == 0) return;
                   const float* const bias = all_bias + column;
                   float* const to = sum + column;
                   first = gelu_erf(hn::Add(first, hn::LoadU(f32, bias)));
                   second = gelu_erf(hn::Add(second, hn::LoadU(f32, bias + lanes)));
                   hn::StoreU(hn::Add(hn::LoadU(f32, to), first), f32, to);
                   hn::StoreU(hn::Add(hn::LoadU(f32, to + lanes), second), f32, to + lanes);
                 });
}

void add_norm_rows(const Norm& norm, const float* change, std::int64_t n_rows, float* h) {
  const F32 f32;
  const std::int64_t d = norm.weight.shape[0];
  for (std::int64_t row = 0; row < n_rows; ++row) {
    float* const to = h + row * d;
    for_vectors(d, [&](std::int64_t c, std::size_t) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(f32, to + c), hn::LoadU(f32, change + row * d + c)), f32,
                 to + c);
    });
    normalise(to, d, norm, to, nullptr);
  }
}

// change += count of the row * bias.
void add_counted_bias(const float* bias, const float* counts, std::int64_t n_rows, std::int64_t d,
                      float* change) {
  const F32 f32;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const Vec count = hn::Set(f32, counts[row]);
    for_vectors(d, [&](std::int64_t c, std::size_t) HWY_ATTR {
      float* const to = change + row * d + c;
      hn::StoreU(hn::MulAdd(count, hn::LoadU(f32, bias + c), hn::LoadU(f32, to)), f32, to);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::proteinmpnn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::proteinmpnn {

HWY_EXPORT(multiply_edge_rows);
HWY_EXPORT(add_edge_ends);
HWY_EXPORT(sum_message_rows);
HWY_EXPORT(add_norm_rows);
HWY_EXPORT(add_counted_bias);

void multiply_block(const Linear& linear, const float* x, std::int64_t n_rows,
                    Activation activation, float* out) {
  // A tensor's numbers are not const; the product only reads them.
  const Tensor rows(const_cast<float*>(x), DType::f32, {n_rows, linear.n_in});
  ops::gemm_part({rows, &linear, activation, {}, {out, DType::f32, {n_rows, linear.n_out}}},
                 {0, n_rows, 0, ops::count_panels(linear.n_out)});
}

void multiply_edges(const Linear* linear, const EdgeRows& rows, std::int64_t d, float* out) {
  if (linear == nullptr) return HWY_DYNAMIC_DISPATCH(add_edge_ends)(rows, d, out);
  HWY_DYNAMIC_DISPATCH(multiply_edge_rows)(*linear, rows, out);
}

void sum_messages(const Linear& middle, const float* x, std::int64_t n_rows,
                  const std::uint8_t* use, float* sum) {
  HWY_DYNAMIC_DISPATCH(sum_message_rows)(middle, x, n_rows, use, sum);
}

void add_norm_block(const Norm& norm, const float* change, std::int64_t n_rows, float* h) {
  HWY_DYNAMIC_DISPATCH(add_norm_rows)(norm, change, n_rows, h);
}

void update_nodes(const NodeUpdate& update, std::int64_t n_rows, const EdgeRoom& room, float* h) {
  Linear last = *update.last;
  last.bias = {};  // it counts once for each message
  multiply_block(last, room.sums, n_rows, Activation::none, room.change);
  HWY_DYNAMIC_DISPATCH(add_counted_bias)
  (update.last->bias.as<float>(), room.counts, n_rows, last.n_out, room.change);
  add_norm_block(update.before, room.change, n_rows, h);
  multiply_block(*update.in, h, n_rows, Activation::gelu_erf, room.inner);
  multiply_block(*update.out, room.inner, n_rows, Activation::none, room.change);
  add_norm_block(update.after, room.change, n_rows, h);
}

}  // namespace biogpu::models::proteinmpnn
#endif
