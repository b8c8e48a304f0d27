// Products whose rows are windows over the rows of x: convolutions, and the product of attention
// pooling, with all that follows them.
//
// Shapes   see conv_product.hpp; k = taps * channels, n_out columns.
// Mapping  that of gemm.hip. The rows of a window lie next to each other, so a row of the product
//          is k numbers at any place of x: nothing is copied to a matrix of windows. Each block
//          looks up the windows of its rows first; what lies outside of the segment is read as
//          zero. Large segments by Hopper's products: conv_warpgroup.hip.
// Traffic  2 k (m ceil(n / columns) + n ceil(m / rows)) bytes through L2, of which each row of x
//          comes from memory about once; 4 m n stored as y, 2 m n as activated. 2 m n k operations:
//          compute bound with five taps or 768 channels. fp32 operands as high and low parts:
//          three times the operations.
// Result   fp32 sums over k in steps of 16, ascending, of fp32 operands in parts of 64:
//          independent of m, of the tile, of the grid and of other segments.
// Source   own.
// Oracle   conv1d_ref, lib/ops/convolution/conv1d_ref.cpp, and attention_pool_ref,
// lib/ops/reduction/attention_pool_ref.cpp.
#include "gpu/ops/convolution/conv_product.hpp"

#include <algorithm>

#include "gpu/ops/convolution/conv_args.hpp"
#include "gpu/ops/convolution/conv_warpgroup.hpp"
#include "gpu/ops/gather/padded_heads.hpp"
#include "gpu/ops/gemm/gemm_operands.hpp"
#include "gpu/ops/gemm/gemm_runner.hpp"
#include "gpu/ops/gemm/gemm_tile.hpp"
#include "gpu/rt/error.hpp"

namespace biogpu::gpu::ops {
namespace {

// A row of the product: numbers [begin, end) of those from row `first` of x on.
struct ProductRow {
  int first, begin, end;
};

__device__ __forceinline__ ProductRow product_row(const ConvArgs& a, int r) {
  if (r >= a.m) return {};
  const int row = a.first_row + r;
  if (a.segments.n == 0) return {row - a.first_x_row, 0, a.channels};
  const RowWindow window = window_of(a.segments, row, a.taps, a.stride, (a.taps - 1) / 2);
  return {window.first - a.first_x_row, window.begin * a.channels, window.end * a.channels};
}

// Columns [k, k + kDepth) of a tile's rows to shared memory; zeros outside of segments. A group of
// 8 columns lies in one tap, and a thread has the same group of each of its rows.
template <int kCount, int kThreads>
__device__ __forceinline__ void copy_windows(const ConvArgs& a, const ProductRow* rows, int k,
                                             std::uint16_t* to) {
  constexpr int kPieces = gemm_tile::kDepth / 8;
  static_assert(kThreads % kPieces == 0);
  const int c = static_cast<int>(threadIdx.x) % kPieces * 8, width = a.taps * a.channels;
  int at = k + c;
  const std::uint16_t* from = a.x;
  if (at >= width && a.low != nullptr) {  // high, low, high
    from = at < 2 * width ? a.low : a.x;
    at -= at < 2 * width ? width : 2 * width;
  }
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < kCount * kPieces; i += kThreads) {
    const int r = i / kPieces;
    const ProductRow row = rows[r];
    const bool valid = at >= row.begin && at < row.end;
    copy_async16(to + r * gemm_tile::kPitch + c,
                 from + (valid ? std::int64_t{row.first} * a.channels + at : 0), valid);
  }
}

template <int kWave, Number16 kType, class Tile, gemm_tile::SumParts kParts>
__global__ __launch_bounds__(kWave* gemm_tile::kWaves<Tile>) void conv_product_kernel(ConvArgs a) {
  using namespace gemm_tile;
  constexpr int kThreads = kWave * kWaves<Tile>;
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  auto* const rows = reinterpret_cast<ProductRow*>(shared + kStages * kSliceElements<Tile>);
  const Place tile = place_of<Tile>(a.m, a.outputs.n, static_cast<int>(blockIdx.x));
  for (int r = static_cast<int>(threadIdx.x); r < kRows<Tile>; r += kThreads) {
    rows[r] = product_row(a, tile.row + r);
  }
  __syncthreads();
  WaveSums<kWave, Tile> sum = {};
  multiply_slices<kWave, kType, Tile, kParts>(sum, a.k, a.sum_scale, shared, [&](int s) {
    if (s * kDepth >= a.k) return;
    std::uint16_t* const to = slice_of<Tile>(shared, s);
    copy_windows<kRows<Tile>, kThreads>(a, rows, s * kDepth, to);
    copy_slice<kColumns<Tile>, kThreads>(a.weight, a.k, tile.column, a.outputs.n, s * kDepth, a.k,
                                         to + kRows<Tile> * kPitch);
  });
  constexpr int kWidth = kWave == 32 ? 2 : 4;  // neighbours that one lane holds
  const Place wave = place_of_wave<kWave, Tile>();
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kColumnTiles; ++j) {
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; e += kWidth) {
        const int r = tile.row + wave.row + 16 * i + tile_row<kWave>(e);
        const int c = tile.column + wave.column + 16 * j + tile_column<kWave>(e);
        if (r < a.m && c < a.outputs.n) finish_values<kWidth>(a, r, c, sum[i][j].value + e);
      }
    }
  }
}

template <int kWave, Number16 kType>
void launch_conv(const ConvArgs& a, Stream& stream) {
  gemm_tile::with_columns(gemm_tile::columns_by_rule(a.m, a.outputs.n, stream), [&](auto tile) {
    using Tile = decltype(tile);
    gemm_tile::with_parts(a.low != nullptr, [&](auto parts) {
      stream.launch_shared(
          conv_product_kernel<kWave, kType, Tile, decltype(parts)::value>,
          static_cast<std::size_t>(gemm_tile::count_tiles<Tile>(a.m, a.outputs.n)),
          kWave * gemm_tile::kWaves<Tile>,
          gemm_tile::kSharedBytes<Tile> + gemm_tile::kRows<Tile> * sizeof(ProductRow), a);
    });
  });
}

void launch_windows(const ConvArgs& a, Number16 type, Stream& stream) {
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    type == Number16::fp16 ? launch_conv<wave, Number16::fp16>(a, stream)
                           : launch_conv<wave, Number16::bf16>(a, stream);
  });
}

enum class Kernel { windows, warpgroups };

void launch(const ConvArgs& a, Number16 type, Kernel kernel, Device& device) {
  if (kernel == Kernel::warpgroups && launch_conv_warpgroup(a, type, device)) return;
  launch_windows(a, type, device.stream());
}

// fp32 operands as two matrices of 16-bit numbers, for some rows at a time.
struct ConvPlanes {
  explicit ConvPlanes(Device&) {}
  DeviceBuffer<std::uint16_t> memory;
};

// Rows of x from the first to before the last.
struct RowRange {
  std::int64_t first = 0, last = 0;
};

// Rows of fp32 numbers in slices, so that the memory of their parts stays small compared with the
// batch's tensors. Where rows of the result are as many as those of x, which rows a slice reads
// does not depend on the segments; else there is one slice. readable: rows of x that may be read.
void multiply_split(Device& device, const ConvProduct& product, ConvArgs args, RowRange readable,
                    Kernel kernel) {
  constexpr std::int64_t kMaxBytes = std::int64_t{128} << 20;
  const std::int64_t channels = args.channels, before = (product.taps - 1) / 2;
  const bool slices = product.stride == 1;
  const std::int64_t rows_once =
      slices ? std::max<std::int64_t>(1024, kMaxBytes / (4 * channels)) : args.m;
  const std::int64_t end_row = args.first_row + args.m;
  for (std::int64_t row = args.first_row; row < end_row; row += rows_once) {
    const std::int64_t end = std::min(row + rows_once, end_row);
    const std::int64_t first = slices ? std::max(readable.first, row - before) : readable.first;
    const std::int64_t last = slices ? std::min(readable.last, end + before) : readable.last;
    auto& planes = device.state<ConvPlanes>().memory;
    device.grow(planes, static_cast<std::size_t>(2 * (last - first) * channels));
    std::uint16_t* const low = planes.data() + (last - first) * channels;
    Rows from = product.x;
    from.data = static_cast<float*>(from.data) + first * from.stride;
    launch_split_planes(planes.data(), low, from, last - first, args.channels, device.stream());
    args.x = planes.data();
    args.low = low;
    args.first_x_row = static_cast<int>(first);
    args.n_x_rows = static_cast<int>(last - first);
    args.first_row = static_cast<int>(row);
    args.m = static_cast<int>(end - row);
    launch(args, Number16::fp16, kernel, device);
  }
}

void multiply_rows(Device& device, const ConvProduct& product, ConvArgs args, RowRange readable,
                   Kernel kernel) {
  if (args.m == 0) return;
  if (product.x.type == Element::f32)
    return multiply_split(device, product, args, readable, kernel);
  args.x = static_cast<const std::uint16_t*>(product.x.data) + readable.first * args.channels;
  args.first_x_row = static_cast<int>(readable.first);
  args.n_x_rows = static_cast<int>(readable.last - readable.first);
  launch(args, product.x.type == Element::bf16 ? Number16::bf16 : Number16::fp16, kernel, device);
}

ConvArgs args_of(const ConvProduct& product) {
  const auto& weights = *static_cast<const DeviceLinear*>(product.linear->packed);
  ConvArgs args;
  args.weight = weights.weight;
  args.bias = weights.bias;
  args.sum_scale = weights.sum_scale;
  args.m = static_cast<int>(product.m);
  args.k = static_cast<int>(weights.k);
  args.channels = static_cast<int>(weights.width / product.taps);
  args.taps = product.taps;
  args.stride = product.stride;
  args.segments = product.segments;
  args.residual = product.residual;
  args.paired = product.paired;
  args.pairs = product.pairs;
  args.outputs = product.outputs;
  return args;
}

}  // namespace

// Segments that suit Hopper's products one after the other: the choice, and so the bytes, depend on
// a segment alone.
void multiply_windows(Device& device, const ConvProduct& given) {
  ConvProduct product = given;
  const std::int64_t channels = given.linear->n_in / given.taps;
  product.x =
      rows_of(padded_copy(device, tensor_of(given.x, given.n_x_rows, channels), PadSlot::rows));
  const auto& weights = *static_cast<const DeviceLinear*>(given.linear->packed);
  if (weights.width != given.taps * padded_width(channels))
    throw DeviceError(DeviceError::Kind::failed,
                      "a convolution's weight was uploaded without the axis of its taps");
  const ConvArgs args = args_of(product);
  const auto suits = [&](std::int64_t s) {
    return conv_suits_warpgroups(args, product.rows->length(s), device.stream());
  };
  const std::int64_t n_segments = product.rows == nullptr ? 0 : product.rows->n_segments;
  std::int64_t n_suit = 0;
  for (std::int64_t s = 0; s < n_segments; ++s) n_suit += suits(s) ? 1 : 0;
  if (n_suit == 0)
    return multiply_rows(device, product, args, {0, product.n_x_rows}, Kernel::windows);
  for (std::int64_t s = 0; s < n_segments; ++s) {
    ConvArgs part = args;
    part.first_row = static_cast<int>(product.rows->begin(s));
    part.m = static_cast<int>(product.rows->length(s));
    if (product.segments.n != 0) {
      part.segments.in += s;
      part.segments.out += s;
      part.segments.n = 1;
    }
    // x has rows of the same segments: the stride is 1.
    const RowRange readable{part.first_row, part.first_row + part.m};
    multiply_rows(device, product, part, readable, suits(s) ? Kernel::warpgroups : Kernel::windows);
  }
}

}  // namespace biogpu::gpu::ops
