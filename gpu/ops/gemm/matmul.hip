// y = scale a b of two activations on the matrix cores, batched and strided.
//
// Shapes   see lib/ops/gemm/matmul.hpp.
// Mapping  a block computes a tile of one product; its waves divide it as those of gemm.hip do.
//          Slices of the summed index pass through shared memory: 16-bit operands as they lie, by
//          copies of 16 bytes along whichever axis is contiguous if alignment allows, fp32 operands
//          through registers, as two fp16 numbers each (matmul_split.hpp). Channels behind pairs,
//          and large 16-bit operands whose rows are not aligned, are copied first (permute.hip), in
//          groups of channels of at most 256 MB or 16 channels.
// Traffic  per product k (m ceil(n / kColumns) + n ceil(m / kRows)) numbers read, most of them from
//          L2; m n stored once. 2 m n k operations, three times as many for fp32.
// Result   fp32 sums over k in steps of 16, ascending; of fp32 operands in parts of 32. Independent
//          of the batch, the tile, the grid and the wave.
// Limits   m, n and k below 2^31. fp32 numbers beyond 2^100 may give infinite sums; an infinite
//          fp32 number gives NaN.
// Source   own; the tiling of Goto and van de Geijn 2008, doi 10.1145/1356052.1356053; split
// numbers
//          of Ootomo and Yokota 2022, doi 10.1177/10943420221090256.
// Oracle   matmul_ref, lib/ops/gemm/matmul_ref.cpp.
#include <algorithm>
#include <limits>

#include "gpu/ops/device.hpp"
#include "gpu/ops/gather/permute.hpp"
#include "gpu/ops/gemm/matmul_slices.hpp"
#include "gpu/ops/gemm/matmul_split.hpp"
#include "gpu/ops/gemm/tiles.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/error.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gemm/matmul_staging.hpp"

namespace biogpu::gpu::ops {
namespace {

using namespace gemm_tile;
using biogpu::ops::Matmul;
using biogpu::ops::MatmulAxes;

template <int kWave, Number16 kType, class Tile, Along kA, Along kB>
__global__ BIOGPU_LAUNCH_BOUNDS(kWave* kWaves<Tile>,
                                16 / kWaves<Tile>) void matmul_kernel(MatmulArgs args) {
  constexpr int kThreads = kWave * kWaves<Tile>;
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  const MatmulBlock block = matmul_block<Tile>(args);
  const auto a = rows_of_a<std::uint16_t>(args, block.product);
  const auto b = rows_of_b<std::uint16_t>(args, block.product);
  const int n_slices = ceil_div(a.n_k, kDepth);
  const auto slice = [&](int s) { return shared + s % kStages * kMatmulSlice<Tile, kA, kB>; };
  const auto copy = [&](int s) {
    if (s < n_slices) {
      copy_operand<kA, kRows<Tile>, kThreads>(a, block.tile.row, s * kDepth, slice(s));
      copy_operand<kB, kColumns<Tile>, kThreads>(b, block.tile.column, s * kDepth,
                                                 slice(s) + kSliceSize<kA, kRows<Tile>>);
    }
    copy_async_commit();
  };
  const Place wave = place_of_wave<kWave, Tile>();
  WaveSums<kWave, Tile> sum = {};
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);
  for (int s = 0; s < n_slices; ++s) {
    copy_async_wait<kStages - 2>();
    __syncthreads();  // slice s has come, and slice s - 1 has been read by all
    copy(s + kStages - 1);
    multiply_operands<kWave, kType, Tile, kA, kB>(sum, wave, slice(s));
  }
  store_product<kWave, Tile>(sum, args, block.product,
                             {block.tile.row + wave.row, block.tile.column + wave.column});
}

template <int kWave, class Tile, Along kA, Along kB>
__global__ __launch_bounds__(kWave* kWaves<Tile>) void matmul_split_kernel(MatmulArgs args) {
  constexpr int kThreads = kWave * kWaves<Tile>;
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, shared);
  auto& slice = *reinterpret_cast<SplitSlice<Tile>*>(shared);
  const MatmulBlock block = matmul_block<Tile>(args);
  const auto a = rows_of_a<float>(args, block.product), b = rows_of_b<float>(args, block.product);
  SplitShare<kA, kRows<Tile>, kThreads> of_a;
  SplitShare<kB, kColumns<Tile>, kThreads> of_b;
  const auto load = [&](int k) {
    of_a.load(a, block.tile.row, k);
    of_b.load(b, block.tile.column, k);
  };
  const Place wave = place_of_wave<kWave, Tile>();
  WaveSums<kWave, Tile> sum = {};
  load(0);
  for (int k = 0; k < a.n_k; k += kSplitDepth) {
    of_a.template find_largest<kWave>(slice, 0);
    of_b.template find_largest<kWave>(slice, kRows<Tile>);
    __syncthreads();  // the slice before has been read by all
    of_a.split(slice, 0);
    of_b.split(slice, kRows<Tile>);
    __syncthreads();
    if (k + kSplitDepth < a.n_k) load(k + kSplitDepth);  // comes while this slice is multiplied
    multiply_split<kWave, Tile>(sum, wave, slice);
  }
  store_product<kWave, Tile>(sum, args, block.product,
                             {block.tile.row + wave.row, block.tile.column + wave.column});
}

// Launches a kernel in grids that have a block for each tile of each product.
template <class Tile, class Kernel>
void launch_tiles(MatmulArgs args, Kernel kernel, int wave, std::size_t bytes, Stream& stream) {
  constexpr std::int64_t kMostBlocks = 1 << 30;
  const std::int64_t n_blocks =
      count_tiles<Tile>(static_cast<int>(args.axes.m), static_cast<int>(args.axes.n)) *
      args.axes.n_products();
  for (; args.first_block < n_blocks; args.first_block += kMostBlocks)
    stream.launch_shared(
        kernel, static_cast<std::size_t>(std::min(kMostBlocks, n_blocks - args.first_block)),
        static_cast<unsigned>(wave * kWaves<Tile>), bytes, args);
}

// Large tiles where they give every multiprocessor one and are not mostly empty.
int matmul_columns_by_rule(const MatmulAxes& axes, const Stream& stream) {
  const auto m = static_cast<int>(axes.m), n = static_cast<int>(axes.n);
  const bool large = std::min(m, n) > kRows<SmallTile> &&
                     count_tiles<LargeTile>(m, n) * axes.n_products() >= stream.n_multiprocessors();
  return large ? kColumns<LargeTile> : kColumns<SmallTile>;
}

template <Along kAlong>
using AlongConstant = std::integral_constant<Along, kAlong>;
template <class Run>
void with_along(Along a, Along b, const Run& run) {
  const auto with_b = [&](auto of_a) {
    if (b == Along::k) {
      run(of_a, AlongConstant<Along::k>());
    } else {
      run(of_a, AlongConstant<Along::rows>());
    }
  };
  if (a == Along::k) {
    with_b(AlongConstant<Along::k>());
  } else {
    with_b(AlongConstant<Along::rows>());
  }
}

template <Number16 kType>
void multiply16(const MatmulArgs& args, Along a, Along b, int columns, Stream& stream) {
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    with_columns(columns, [&](auto tile) {
      with_along(a, b, [&](auto of_a, auto of_b) {
        using Tile = decltype(tile);
        launch_tiles<Tile>(args, matmul_kernel<wave, kType, Tile, of_a, of_b>, wave,
                           sizeof(std::uint16_t) * kStages * kMatmulSlice<Tile, of_a, of_b>,
                           stream);
      });
    });
  });
}

void multiply32(const MatmulArgs& args, Along a, Along b, int columns, Stream& stream) {
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    with_columns(columns, [&](auto tile) {
      with_along(a, b, [&](auto of_a, auto of_b) {
        using Tile = decltype(tile);
        launch_tiles<Tile>(args, matmul_split_kernel<wave, Tile, of_a, of_b>, wave,
                           sizeof(SplitSlice<Tile>), stream);
      });
    });
  });
}

struct OperandLayout {
  Along along;
  bool in_16_bytes;
};
OperandLayout layout_of(const tensor::Tensor& x, const MatmulAxes::Strides& strides,
                        std::int64_t row_stride, std::int64_t k_stride) {
  const auto bytes = static_cast<std::int64_t>(tensor::bytes_of(x.dtype));
  const bool by_rows = row_stride == 1 && k_stride != 1;
  const std::int64_t line = by_rows ? k_stride : row_stride;
  auto all = reinterpret_cast<std::uintptr_t>(x.data) | static_cast<std::uintptr_t>(line * bytes);
  for (const std::int64_t stride : strides.batch)
    all |= static_cast<std::uintptr_t>(stride * bytes);
  const bool contiguous = by_rows || k_stride == 1;
  return {by_rows ? Along::rows : Along::k, contiguous && all % 16 == 0};
}

void multiply(Device& device, const Matmul& asked) {
  const Matmul op = biogpu::ops::with_near_columns(asked);
  MatmulArgs args;
  args.axes = biogpu::ops::matmul_axes(op);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - 256;
  if (std::max({args.axes.m, args.axes.n, args.axes.k}) > kMost)
    throw DeviceError(DeviceError::Kind::failed,
                      "matmul: GPUs take matrices of less than 2^31 rows and columns");
  const OperandLayout a = layout_of(op.a, args.axes.a, args.axes.a.row, args.axes.a.column);
  const OperandLayout b = layout_of(op.b, args.axes.b, args.axes.b.column, args.axes.b.row);
  args.a = op.a.data;
  args.b = op.b.data;
  args.y = op.y.data;
  args.type = element_of(op.y.dtype);
  args.scale = op.scale;
  args.a_in_16_bytes = a.in_16_bytes;
  args.b_in_16_bytes = b.in_16_bytes;
  const tensor::DType type = op.a.dtype;
  constexpr const char* kNames[2][2] = {{"matmul kk", "matmul kr"}, {"matmul rk", "matmul rr"}};
  const int columns = device.state<Tiles>().table.columns(
      kNames[a.along == Along::rows ? 1 : 0][b.along == Along::rows ? 1 : 0],
      type == tensor::DType::f16    ? "fp16"
      : type == tensor::DType::bf16 ? "bf16"
                                    : "fp32",
      {args.axes.m, args.axes.n, args.axes.k, args.axes.n_products()},
      matmul_columns_by_rule(args.axes, device.stream()));
  switch (type) {
    case tensor::DType::f16:
      return multiply16<Number16::fp16>(args, a.along, b.along, columns, device.stream());
    case tensor::DType::bf16:
      return multiply16<Number16::bf16>(args, a.along, b.along, columns, device.stream());
    default:
      return multiply32(args, a.along, b.along, columns, device.stream());
  }
}

// Memory of operands that are copied on the way.
struct MatmulStaging {
  explicit MatmulStaging(Device&) {}
  DeviceBuffer<std::uint8_t> operands[3];
};

// Whether copies of 16 bytes along one of the last two axes are aligned.
bool is_in_16_bytes(const tensor::Tensor& x) {
  const MatmulAxes::Strides strides = biogpu::ops::matmul_strides(x);
  return layout_of(x, strides, strides.row, strides.column).in_16_bytes;
}

}  // namespace

// Channels behind pairs would be read 32 bytes at a time, once for each tile that they are part of:
// a copy of both operands takes less. So it does for 16-bit numbers that several tiles would read
// one at a time.
void matmul(Device& device, const Matmul& op) {
  if (op.y.size() == 0) return;
  constexpr std::int64_t kBytes = std::int64_t{256} << 20, kChannels = 16;
  const auto row = static_cast<std::size_t>(op.y.rank) - 2;
  const bool large = std::min(op.y.shape[row], op.y.shape[row + 1]) > kRows<LargeTile>;
  const auto stages = [&](int i, const tensor::Tensor& x) {
    if (biogpu::ops::channel_axis(x) >= 0) return true;
    const bool is_operand = i < 2;
    return is_operand && large && tensor::bytes_of(x.dtype) == 2 && !is_in_16_bytes(x);
  };
  if (!stages(0, op.a) && !stages(1, op.b) && !stages(2, op.y)) return multiply(device, op);
  int axis = biogpu::ops::channel_axis(op);
  if (axis < 0 && op.y.rank > 2) axis = 0;
  std::int64_t largest = 1;  // bytes of an index of the axis
  for (const tensor::Tensor* const x : {&op.a, &op.b, &op.y})
    largest = std::max(largest, static_cast<std::int64_t>(biogpu::ops::staged_bytes(*x)) /
                                    (axis < 0 ? 1 : x->shape[static_cast<std::size_t>(axis)]));
  auto& staging = device.state<MatmulStaging>();
  biogpu::ops::multiply_in_groups(
      op, axis, std::max(kChannels, kBytes / largest / kChannels * kChannels), stages,
      [&](int i, std::size_t bytes) {
        device.grow(staging.operands[i], bytes);
        return staging.operands[i].data();
      },
      [&](const tensor::Tensor& from, const tensor::Tensor& to) {
        permute(device, {from, to});
      },
      [&](const Matmul& group) { multiply(device, group); });
}

}  // namespace biogpu::gpu::ops
