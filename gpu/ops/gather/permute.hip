// Views of any strides copied to views of other strides, or to another type.
//
// Shapes   see lib/ops/gather/permute.hpp; the axes of lib/ops/gather/copy_axes.hpp.
// Mapping  where both sides have the same fastest axis, a thread for a number, or for as many as 16
//          bytes hold where all strides are multiples of them. Otherwise a block for a square of 64
//          numbers along both fastest axes, which passes through shared memory, so that waves read
//          and write neighbours.
// Traffic  each array once; memory bound.
// Result   exact, or rounded once.
// Source   own; the transposition of Ruetsch and Micikevicius 2009, "Optimizing Matrix Transpose in
//          CUDA".
// Oracle   permute_ref, lib/ops/gather/permute_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "lib/ops/gather/copy_axes.hpp"
#include "lib/ops/gather/permute.hpp"

namespace biogpu::gpu::ops {
namespace {

using biogpu::ops::CopyAxes;

constexpr int kSquare = 64;

// Numbers as the bits that they are, and numbers that change their type.
template <class T>
struct SameBits {
  using Value = T;
  const T* from;
  T* to;
  __device__ __forceinline__ T load(std::int64_t at) const { return from[at]; }
  __device__ __forceinline__ void store(std::int64_t at, T value) const { to[at] = value; }
};
struct OtherType {
  using Value = float;
  Rows from, to;
  __device__ __forceinline__ float load(std::int64_t at) const { return load_element(from, at, 0); }
  __device__ __forceinline__ void store(std::int64_t at, float value) const {
    store_element(to, at, 0, value);
  }
};

// An axis that threads walk along, and the others, the last fastest.
struct OuterAxes {
  int rank;
  std::int64_t shape[tensor::kMaxRank], from[tensor::kMaxRank], to[tensor::kMaxRank];
};
struct Axis {
  std::int64_t n, from, to;
};

struct Offsets {
  std::int64_t from, to;
};
__device__ __forceinline__ Offsets offsets_of(const OuterAxes& axes, std::int64_t index) {
  Offsets at{0, 0};
#pragma unroll
  for (int i = tensor::kMaxRank - 1; i >= 0; --i) {
    if (i >= axes.rank) continue;
    std::int64_t here = index;
    if (i > 0) {
      const std::int64_t n = axes.shape[i];
      std::int64_t next;
      if ((index | n) >> 32 == 0) {  // a division of 64 bits takes longer than the copy
        next = static_cast<std::uint32_t>(index) / static_cast<std::uint32_t>(n);
      } else {
        next = index / n;
      }
      here = index - next * n;
      index = next;
    }
    at.from += here * axes.from[i];
    at.to += here * axes.to[i];
  }
  return at;
}

template <class Access>
__global__ __launch_bounds__(kRowBlock) void copy_axes_kernel(Access numbers, OuterAxes axes,
                                                              std::int64_t n) {
  const std::int64_t index = thread_number();
  if (index >= n) return;
  const Offsets at = offsets_of(axes, index);
  numbers.store(at.to, numbers.load(at.from));
}

// rows: x's fastest axis; columns: out's.
template <class Access>
__global__ __launch_bounds__(kRowBlock) void transpose_kernel(Access numbers, OuterAxes outer,
                                                              Axis rows, Axis columns) {
  __shared__ typename Access::Value square[kSquare * (kSquare + 1)];
  const std::int64_t down = ceil_div(rows.n, kSquare), across = ceil_div(columns.n, kSquare);
  const std::int64_t block = blockIdx.x;
  const std::int64_t column = block % across * kSquare, row = block / across % down * kSquare;
  const Offsets at = offsets_of(outer, block / across / down);
  const int fast = static_cast<int>(threadIdx.x) % kSquare;
  constexpr int kStep = static_cast<int>(kRowBlock) / kSquare;
#pragma unroll
  for (int slow = static_cast<int>(threadIdx.x) / kSquare; slow < kSquare; slow += kStep) {
    if (row + fast < rows.n && column + slow < columns.n) {
      square[slow * (kSquare + 1) + fast] =
          numbers.load(at.from + (row + fast) * rows.from + (column + slow) * columns.from);
    }
  }
  __syncthreads();
#pragma unroll
  for (int slow = static_cast<int>(threadIdx.x) / kSquare; slow < kSquare; slow += kStep) {
    if (row + slow < rows.n && column + fast < columns.n) {
      numbers.store(at.to + (row + slow) * rows.to + (column + fast) * columns.to,
                    square[fast * (kSquare + 1) + slow]);
    }
  }
}

void add_axis(OuterAxes& outer, const CopyAxes& axes, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  outer.shape[outer.rank] = axes.shape[a];
  outer.from[outer.rank] = axes.from[a];
  outer.to[outer.rank++] = axes.to[a];
}

Axis axis_of(const CopyAxes& axes, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  return {axes.shape[a], axes.from[a], axes.to[a]};
}

template <class Access>
void copy_by(const Access& numbers, const CopyAxes& axes, Stream& stream) {
  const int last = axes.rank - 1, fastest = axes.fastest_of_x();
  OuterAxes outer{};
  std::int64_t n_outer = 1;
  for (int i = 0; i < axes.rank; ++i) {
    if (fastest != last && (i == fastest || i == last)) continue;
    add_axis(outer, axes, i);
    n_outer *= axes.shape[static_cast<std::size_t>(i)];
  }
  if (fastest == last) {
    stream.launch(copy_axes_kernel<Access>, row_blocks(n_outer), kRowBlock, numbers, outer,
                  n_outer);
    return;
  }
  // Several numbers are copied as one along a common fastest axis alone.
  if constexpr (sizeof(typename Access::Value) <= sizeof(std::uint64_t)) {
    const Axis rows = axis_of(axes, fastest), columns = axis_of(axes, last);
    const std::int64_t n_blocks =
        n_outer * ceil_div(rows.n, kSquare) * ceil_div(columns.n, kSquare);
    stream.launch(transpose_kernel<Access>, static_cast<std::size_t>(n_blocks), kRowBlock, numbers,
                  outer, rows, columns);
  }
}

// Numbers of the same type: several as one where both sides allow.
template <class T>
void copy_bits(const biogpu::ops::Permute& op, CopyAxes axes, std::int64_t n_in_one,
               Stream& stream) {
  const auto last = static_cast<std::size_t>(axes.rank) - 1;
  axes.shape[last] /= n_in_one;
  for (std::size_t i = 0; i < last; ++i) {
    axes.from[i] /= n_in_one;
    axes.to[i] /= n_in_one;
  }
  copy_by(SameBits<T>{op.x.as<const T>(), op.out.as<T>()}, axes, stream);
}

// The most bytes, up to 16, that all rows of both sides are multiples of.
std::int64_t common_bytes(const biogpu::ops::Permute& op, const CopyAxes& axes) {
  const auto bytes = static_cast<std::int64_t>(tensor::bytes_of(op.x.dtype));
  const auto last = static_cast<std::size_t>(axes.rank) - 1;
  if (axes.from[last] != 1 || axes.to[last] != 1) return bytes;
  auto all = reinterpret_cast<std::uintptr_t>(op.x.data) |
             reinterpret_cast<std::uintptr_t>(op.out.data) |
             static_cast<std::uintptr_t>(axes.shape[last] * bytes);
  for (std::size_t i = 0; i < last; ++i)
    all |= static_cast<std::uintptr_t>(axes.from[i] * bytes) |
           static_cast<std::uintptr_t>(axes.to[i] * bytes);
  std::int64_t common = 16;
  while (all % static_cast<std::uintptr_t>(common) != 0) common /= 2;
  return common;
}

}  // namespace

void permute(Device& device, const biogpu::ops::Permute& op) {
  if (op.x.size() == 0) return;
  const CopyAxes axes = biogpu::ops::copy_axes(op.x, op.out);
  if (op.x.dtype != op.out.dtype) {
    const OtherType numbers{{op.x.data, 1, element_of(op.x.dtype)},
                            {op.out.data, 1, element_of(op.out.dtype)}};
    return copy_by(numbers, axes, device.stream());
  }
  const std::int64_t bytes = common_bytes(op, axes);
  const std::int64_t n = bytes / static_cast<std::int64_t>(tensor::bytes_of(op.x.dtype));
  switch (bytes) {
    case 1:
      return copy_bits<std::uint8_t>(op, axes, n, device.stream());
    case 2:
      return copy_bits<std::uint16_t>(op, axes, n, device.stream());
    case 4:
      return copy_bits<std::uint32_t>(op, axes, n, device.stream());
    case 8:
      return copy_bits<std::uint64_t>(op, axes, n, device.stream());
    default:
      return copy_bits<Bytes16>(op, axes, n, device.stream());
  }
}

}  // namespace biogpu::gpu::ops
