// Triangle multiplication on Hopper's warpgroup products: sides, products, update.
//
// Shapes   see triangle_product_warpgroup.hpp; x [c, n, pitch], channels first.
// Mapping  sides and update: two blocks of a cluster take 128 pairs each and bring each other half
//          of the weights, 64 channels at a time; of a block's waves one copies, three normalise
//          rows of z into shared memory, eight multiply. Products: a tile of one channel a block,
//          two blocks of a cluster share rows.
// Traffic  z is read by the first and the last kernel, a, b and x are written and read once, 16
//          bits each: no norm, gate or copy in another order passes through memory. Roofline:
//          docs/design/operations.md.
// Result   fp32 sums over channels and over k in steps of 16, ascending, whatever the grid. a, b
//          and x are rounded to bf16. The norm of x is folded into the weights behind it, rounded
//          to bf16 again; its mean is subtracted behind the product.
// Limits   sm_90a, bf16; 64, 128 or 256 channels.
// Source   own.
// Oracle   triangle_product_ref, lib/ops/triangle/triangle_product_ref.cpp.
#include "gpu/ops/triangle/triangle_product_warpgroup.hpp"

#include <algorithm>

#include "gpu/ops/triangle/channel_product_tile.hpp"
#include "gpu/ops/triangle/gated_rows_kernel.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr Number16 kType = Number16::bf16;

bool is_aligned(const TriangleProductArgs& a) {
  const std::int64_t pair = a.wide_pairs ? 8 : 4;  // bytes that a lane reads and writes at a time
  const auto rows = [&](const Rows& x) {
    return reinterpret_cast<std::uintptr_t>(x.data) % static_cast<std::uintptr_t>(pair) == 0 &&
           x.stride % 2 == 0;
  };
  std::uintptr_t all = 0;
  for (const void* const data :
       {a.z, static_cast<const void*>(a.weight_in), static_cast<const void*>(a.bias_in),
        static_cast<const void*>(a.projections), static_cast<const void*>(a.map_out)})
    all |= reinterpret_cast<std::uintptr_t>(data);
  return all % 16 == 0 && rows(a.residual) && rows(a.out);
}

GatedRowsArgs rows_args(const TriangleProductArgs& a) {
  GatedRowsArgs rows;
  rows.n = a.n;
  rows.pitch = a.pitch();
  rows.z = a.z;
  rows.weight_in = a.weight_in;
  rows.bias_in = a.bias_in;
  rows.eps_in = a.eps_in;
  rows.mask = a.mask;
  rows.eps_out = a.eps_out;
  rows.weight_sums = a.vectors;
  rows.residual = a.residual;
  rows.out = a.out;
  return rows;
}

// Not needed where the kernels are not compiled.
[[maybe_unused]] FoldedNorm folded_norm(const TriangleProductArgs& a) {
  return {a.c,        a.map_out, a.map_out_bias, a.weight_out,
          a.bias_out, a.folded,  a.vectors,      a.vectors + a.c};
}

const float* bias_of(const TriangleProductArgs& a, int part) {
  return a.projection_bias == nullptr ? nullptr : a.projection_bias + std::int64_t{part} * a.c;
}

struct GatedWeights {
  const std::uint16_t *value, *gate;
};

template <class Tile>
bool launch_gated(const GatedRowsArgs& args, const GatedWeights& weights, std::uint16_t* pairs,
                  Stream& stream) {
  using Number = BoxedMatrix::Number;
  const std::int64_t n_pairs = std::int64_t{args.n} * args.pitch;
  const auto map = [](const std::uint16_t* data, std::int64_t n_rows, std::int64_t n_columns,
                      TensorMap* to) {
    return make_tensor_map(to, {data, n_rows, n_columns, n_columns, Number::bits16, Tile::kChunk});
  };
  GatedMaps maps;
  if (!map(weights.value, args.n_out, Tile::kChannels, &maps.value) ||
      !map(weights.gate, args.n_out, Tile::kChannels, &maps.gate) ||
      !map(pairs, args.n_out, n_pairs, &maps.pairs))
    return false;
  const auto n_items = static_cast<int>(ceil_div(ceil_div(n_pairs, Tile::kRows), Tile::kCluster));
  const int n_clusters = std::min(n_items, stream.n_multiprocessors() / Tile::kCluster);
  launch_clusters(stream, gated_rows_kernel<Tile>,
                  static_cast<std::size_t>(n_clusters * Tile::kCluster), Tile::kCluster,
                  Tile::kThreads, Tile::kSharedBytes, args, maps);
  return true;
}

template <bool kUpdates, bool kWidePairs>
bool launch_gated_channels(const TriangleProductArgs& a, const GatedRowsArgs& rows,
                           const GatedWeights& weights, Stream& stream) {
  std::uint16_t* const pairs = kUpdates ? a.sums : a.sides;
  switch (a.c) {
    case 64:
      return launch_gated<GatedTile<kType, 1, kUpdates, kWidePairs>>(rows, weights, pairs, stream);
    case 128:
      return launch_gated<GatedTile<kType, 2, kUpdates, kWidePairs>>(rows, weights, pairs, stream);
    case 256:
      return launch_gated<GatedTile<kType, 4, kUpdates, kWidePairs>>(rows, weights, pairs, stream);
    default:
      return false;
  }
}

template <bool kCompiled, bool kUpdates>
bool launch_gated_pairs(const TriangleProductArgs& a, const GatedRowsArgs& rows,
                        const GatedWeights& weights, Stream& stream) {
  if constexpr (kCompiled) {
    return a.wide_pairs ? launch_gated_channels<kUpdates, true>(a, rows, weights, stream)
                        : launch_gated_channels<kUpdates, false>(a, rows, weights, stream);
  }
  return false;
}

template <class Tile>
bool launch_product(const TriangleProductArgs& a, Stream& stream) {
  using Number = BoxedMatrix::Number;
  const std::int64_t layer = std::int64_t{a.n} * a.pitch();
  const auto map = [&](const std::uint16_t* data, int box_rows, TensorMap* to) {
    return make_tensor_map(to, {data, a.n, a.n, a.pitch(), Number::bits16, box_rows, a.c, layer});
  };
  ChannelMaps maps;
  if (!map(a.sides, Tile::kBoxRowsA, &maps.a) ||
      !map(a.sides + a.c * layer, Tile::kBoxRowsB, &maps.b) || !map(a.sums, 64, &maps.out))
    return false;
  const ChannelProduct product = {a.c, a.n, folded_norm(a)};
  const int n_clusters =
      std::min(ChannelOrder<Tile>(product).size(), stream.n_multiprocessors() / Tile::kCluster);
  launch_clusters(stream, channel_product_kernel<Tile>,
                  static_cast<std::size_t>(n_clusters * Tile::kCluster), Tile::kCluster,
                  Tile::kThreads, Tile::kSharedBytes, product, maps);
  return true;
}

template <bool kCompiled, bool kDown>
bool launch_products(const TriangleProductArgs& a, ChannelTiles tiles, Stream& stream) {
  if constexpr (kCompiled) {
    switch (tiles) {
      case ChannelTiles::columns_128:
        return launch_product<ChannelTile<kType, 128, false, kDown, 5>>(a, stream);
      case ChannelTiles::columns_192:
        return launch_product<ChannelTile<kType, 192, false, kDown, 4>>(a, stream);
      case ChannelTiles::rows_256:
        return launch_product<ChannelTile<kType, 128, true, kDown, 4>>(a, stream);
    }
  }
  return false;
}

}  // namespace

// Numbers that tiles compute, both blocks of a cluster together: the fewest win, then the widest.
ChannelTiles channel_tiles_for(int n) {
  const auto computed = [n](int rows, int columns) {
    return std::int64_t{ceil_div(n, rows) * rows} * (ceil_div(n, columns) * columns);
  };
  const std::int64_t by_128 = computed(128, 256), by_192 = computed(128, 384),
                     by_256 = computed(256, 256);
  if (by_256 <= by_128 && by_256 <= by_192) return ChannelTiles::rows_256;
  return by_192 <= by_128 ? ChannelTiles::columns_192 : ChannelTiles::columns_128;
}

bool launch_triangle_sides(const TriangleProductArgs& a, Stream& stream) {
  const std::int64_t c = a.c;
  GatedRowsArgs rows = rows_args(a);
  rows.n_out = 2 * a.c;
  rows.value_bias = bias_of(a, 0);
  rows.gate_bias = bias_of(a, 2);
  return launch_gated_pairs<kHasWarpgroups, false>(
      a, rows, {a.projections, a.projections + 2 * c * c}, stream);
}

bool launch_channel_products(const TriangleProductArgs& a, ChannelTiles tiles, Stream& stream) {
  return a.outgoing ? launch_products<kHasWarpgroups, false>(a, tiles, stream)
                    : launch_products<kHasWarpgroups, true>(a, tiles, stream);
}

bool launch_triangle_update(const TriangleProductArgs& a, Stream& stream) {
  const std::int64_t c = a.c;
  GatedRowsArgs rows = rows_args(a);
  rows.n_out = a.c;
  rows.value_bias = a.vectors + c;
  rows.gate_bias = bias_of(a, 4);
  return launch_gated_pairs<kHasWarpgroups, true>(a, rows, {a.folded, a.projections + 4 * c * c},
                                                  stream);
}

bool launch_triangle_product_warpgroup(const TriangleProductArgs& a, Stream& stream) {
  if (!has_warpgroups() || !is_aligned(a) || (a.c != 64 && a.c != 128 && a.c != 256)) return false;
  return launch_triangle_sides(a, stream) &&
         launch_channel_products(a, channel_tiles_for(a.n), stream) &&
         launch_triangle_update(a, stream);
}

}  // namespace biogpu::gpu::ops
