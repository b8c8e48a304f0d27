// Maps of matrices for Hopper's copy engine. The driver makes them; its function is asked for at
// run time, so that nothing links against the driver.
#include "gpu/rt/tensor_map.hpp"

#include <cstring>

#include "gpu/rt/driver_function.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

#if defined(BIOGPU_GPU_CUDA)
namespace {

// The driver's cuTensorMapEncodeTiled and its constants, as cuda.h declares them.
using Encode = int (*)(TensorMap* map, int type, std::uint32_t rank, void* data,
                       const std::uint64_t* extents, const std::uint64_t* strides,
                       const std::uint32_t* box, const std::uint32_t* element_strides,
                       int interleave, int swizzle, int promotion, int fill);
constexpr int kTypeU16 = 1, kTypeF16 = 6, kTypeF32 = 7, kTypeBf16 = 9, kNoInterleave = 0,
              kSwizzle64 = 2, kSwizzle128 = 3, kPromote256 = 3, kFillZeros = 0;

Encode encode_function() {
  static const auto function =
      reinterpret_cast<Encode>(driver_function("cuTensorMapEncodeTiled", 12000));
  return function;
}

}  // namespace

bool has_warpgroups() {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    (void)cudaGetLastError();  // or the next launch would be blamed
    return false;
  }
  return major == 9 && minor == 0 && encode_function() != nullptr;
}

bool make_tensor_map(TensorMap* map, const BoxedMatrix& matrix) {
  const bool wide = matrix.number == BoxedMatrix::Number::f32;
  const int number_bytes = wide ? 4 : 2;
  const std::uint64_t extents[3] = {static_cast<std::uint64_t>(matrix.n_columns),
                                    static_cast<std::uint64_t>(matrix.n_rows),
                                    static_cast<std::uint64_t>(matrix.n_layers)};
  const std::uint64_t strides[2] = {static_cast<std::uint64_t>(matrix.stride * number_bytes),
                                    static_cast<std::uint64_t>(matrix.layer_stride * number_bytes)};
  const std::uint32_t box[3] = {static_cast<std::uint32_t>(128 / number_bytes),
                                static_cast<std::uint32_t>(matrix.box_rows), 1};
  const std::uint32_t ones[3] = {1, 1, 1};
  const std::uint32_t rank = matrix.n_layers > 0 ? 3 : 2;
  const int type = wide                                         ? kTypeF32
                   : matrix.number == BoxedMatrix::Number::fp16 ? kTypeF16
                   : matrix.number == BoxedMatrix::Number::bf16 ? kTypeBf16
                                                                : kTypeU16;
  return encode_function()(map, type, rank, const_cast<void*>(matrix.data), extents, strides, box,
                           ones, kNoInterleave, kSwizzle128, kPromote256, kFillZeros) == 0;
}

bool make_heads_map(TensorMap* map, const BoxedHeads& heads) {
  const auto size = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  // An axis of one element has any distance; the driver wants one that suits.
  const auto bytes = [&](std::int64_t n, std::int64_t stride) {
    return size(n == 1 ? 16 : 2 * stride);
  };
  const std::uint64_t extents[4] = {size(heads.width), size(heads.n_rows), size(heads.n_heads),
                                    size(heads.n_batches)};
  const std::uint64_t strides[3] = {bytes(heads.n_rows, heads.row_stride),
                                    bytes(heads.n_heads, heads.head_stride),
                                    bytes(heads.n_batches, heads.batch_stride)};
  const std::uint32_t box[4] = {static_cast<std::uint32_t>(heads.box_columns),
                                static_cast<std::uint32_t>(heads.box_rows), 1, 1};
  const std::uint32_t ones[4] = {1, 1, 1, 1};
  return encode_function()(map, kTypeU16, 4, const_cast<void*>(heads.data), extents, strides, box,
                           ones, kNoInterleave, heads.box_columns == 32 ? kSwizzle64 : kSwizzle128,
                           kPromote256, kFillZeros) == 0;
}

#elif defined(BIOGPU_GPU_EMULATED)
bool has_warpgroups() {
  int device = 0;
  hipDeviceProp_t properties;
  return hipGetDevice(&device) == hipSuccess &&
         hipGetDeviceProperties(&properties, device) == hipSuccess && properties.major == 9;
}

bool make_tensor_map(TensorMap* map, const BoxedMatrix& matrix) {
  static_assert(sizeof(BoxedMatrix) <= sizeof(TensorMap));
  const int number_bytes = matrix.number == BoxedMatrix::Number::f32 ? 4 : 2;
  if (reinterpret_cast<std::uintptr_t>(matrix.data) % 16 != 0 ||
      matrix.stride * number_bytes % 16 != 0 || matrix.layer_stride * number_bytes % 16 != 0 ||
      matrix.box_rows < 1 || matrix.box_rows > 256)
    return false;
  std::memcpy(map, &matrix, sizeof matrix);
  return true;
}

bool make_heads_map(TensorMap* map, const BoxedHeads& heads) {
  static_assert(sizeof(BoxedHeads) <= sizeof(TensorMap));
  if (reinterpret_cast<std::uintptr_t>(heads.data) % 16 != 0 || heads.box_rows < 1 ||
      heads.box_rows > 256 || (heads.box_columns != 32 && heads.box_columns != 64))
    return false;
  std::memcpy(map, &heads, sizeof heads);
  return true;
}

#else
bool has_warpgroups() { return false; }

bool make_tensor_map(TensorMap* /*map*/, const BoxedMatrix& /*matrix*/) { return false; }
bool make_heads_map(TensorMap* /*map*/, const BoxedHeads& /*heads*/) { return false; }
#endif

}  // namespace biogpu::gpu
