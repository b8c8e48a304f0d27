#include "gpu/ops/gemm/gemm_runner.hpp"

#include <algorithm>
#include <cstdlib>

#include "gpu/ops/gather/padded_heads.hpp"
#include "gpu/ops/gemm/gemm_operands.hpp"
#include "gpu/ops/gemm/gemm_warpgroup.hpp"
#include "gpu/ops/gemm/tiles.hpp"
#include "gpu/ops/rotary.hpp"

namespace biogpu::gpu::ops {

GemmRunner::GemmRunner(Device& device)
    : device_(device),
      split_(tensor::operand_type(device.precision()) == tensor::DType::f32),
      is_fp32_(device.precision() == tensor::Precision::fp32),
      type_(device.precision() == tensor::Precision::bf16 ? Number16::bf16 : Number16::fp16) {
  // For tests and comparisons: one way for products of all sizes.
  const char* const choice = std::getenv("BIOGPU_GEMM");
  const std::string chosen = choice == nullptr ? "" : choice;
  if (chosen == "own") {
    why_no_library_ = "BIOGPU_GEMM=own";
    ways_ = Ways::own;
    return;
  }
  if (chosen == "library") ways_ = Ways::library;
  library_ = BlasLibrary::open(&why_no_library_);
}

void GemmRunner::multiply(const Rows& x, std::int64_t m, const tensor::Linear& linear,
                          const GemmEpilogue& epilogue, const Rows& out) {
  if (m == 0) return;
  const auto& weights = *static_cast<const DeviceLinear*>(linear.packed);
  const Ways ways = ways_ == Ways::best && is_fp32_ && linear.sum_in_parts ? Ways::own : ways_;
  GemmArgs args;
  args.a = static_cast<const std::uint16_t*>(x.data);  // of the first slice, where not split
  args.b = weights.weight;
  const bool copies = !is_in_eights(x, linear.n_in);
  args.lda = split_ ? weights.k : x.stride;
  args.ldb = weights.k;
  args.n = static_cast<int>(linear.n_out);
  args.k = static_cast<int>(weights.k);
  args.in_parts = split_;
  args.sum_scale = weights.sum_scale;
  args.epilogue = epilogue;
  args.epilogue.bias = weights.bias;
  // Split operands in slices of rows, so that their memory stays small compared with the batch's
  // tensors.
  const std::int64_t n_rows_once =
      split_ || copies ? std::max<std::int64_t>(1024, (std::int64_t{128} << 20) / (2 * weights.k))
                       : m;
  for (std::int64_t row = 0; row < m; row += n_rows_once) {
    const std::int64_t n_rows = std::min(n_rows_once, m - row);
    args.m = static_cast<int>(n_rows);
    const auto from_row = [row](Rows rows) {
      if (rows.data == nullptr) return rows;
      const auto bytes = static_cast<std::int64_t>(bytes_of(rows.type));
      rows.data = static_cast<char*>(rows.data) + row * rows.stride * bytes;
      return rows;
    };
    args.out = from_row(out);
    args.epilogue.residual = from_row(epilogue.residual);
    if (epilogue.positions != nullptr) args.epilogue.positions = epilogue.positions + row;
    Rows slice = from_row(x);
    if (copies) {
      slice = rows_of(padded_copy(device_, tensor_of(slice, n_rows, linear.n_in), PadSlot::rows));
      args.a = static_cast<const std::uint16_t*>(slice.data);
      if (!split_) args.lda = slice.stride;
    }
    if (split_) {
      const auto needed = static_cast<std::size_t>(n_rows * weights.k);
      device_.grow(split_operands_, needed);
      launch_split_rows(split_operands_.data(), slice, SplitSide::a, 1, n_rows,
                        static_cast<int>(weights.width), device_.stream());
      args.a = split_operands_.data();
    }
    multiply_once(args, weights, ways);
  }
}

void GemmRunner::multiply_once(const GemmArgs& args, const DeviceLinear& linear, Ways ways) {
  constexpr double kSmall = 2e7;  // operations up to which our own kernel starts as soon
  const bool small = 2.0 * args.m * args.n * args.k < kSmall;
  // Our kernel for Hopper saves the passes that follow the library's product, and adds to a
  // residual in fp32 where it lies, if its wide tiles divide the matrix. What else is added, and
  // results in fp32, stay with the library: whole passes are faster so. So do split operands,
  // though the library's long sums are cut off: sums in parts take longer. A map with sum_in_parts
  // has them all the same.
  const bool wide = args.out.type == Element::f32;
  const bool adds = args.epilogue.residual.data != nullptr;
  const bool suits = adds ? wide && !split_ && args.n % kWideTileColumns == 0 : !wide;
  tensor::TileTable& tiles = device_.state<Tiles>().table;
  const bool ours = ways == Ways::own || (ways == Ways::best && (suits || library_ == nullptr));
  if (ours && launch_gemm_warpgroup(args, type_, tiles, device_.stream())) return;
  if ((ways == Ways::library || (ways == Ways::best && !small)) &&
      multiply_by_library(args, linear))
    return;
  launch_gemm(args, type_, tiles, device_.stream());
}

// The library's kernels read and write 16 bytes at a time.
bool GemmRunner::is_aligned(const GemmArgs& args) {
  constexpr std::int64_t kBytes = 16;
  const auto good = [](const void* data, std::int64_t stride, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % kBytes == 0 && stride * bytes % kBytes == 0;
  };
  const auto out_bytes = static_cast<std::int64_t>(bytes_of(args.out.type));
  return good(args.a, args.lda, 2) && good(args.b, args.ldb, 2) &&
         good(args.out.data, args.out.stride, out_bytes) &&
         good(args.epilogue.residual.data, args.epilogue.residual.stride, out_bytes);
}

// The library adds a bias and a residual; activation and rotation follow in a pass of their own.
bool GemmRunner::multiply_by_library(const GemmArgs& args, const DeviceLinear& linear) {
  if (library_ == nullptr) return false;
  const bool wide = args.out.type == Element::f32;
  const GemmEpilogue& epilogue = args.epilogue;
  const bool activates = epilogue.activation != biogpu::ops::Activation::none;
  if (!is_aligned(args) || (activates && args.n % 8 != 0)) return false;
  BlasProduct product;
  product.m = args.m;
  product.n = args.n;
  product.k = args.k;
  product.scale = args.sum_scale;
  product.operand = type_ == Number16::fp16 ? BlasProduct::Type::fp16 : BlasProduct::Type::bf16;
  product.out = wide ? BlasProduct::Type::f32 : product.operand;
  product.lda = args.lda;
  product.ldb = args.ldb;
  product.ldo = args.out.stride;
  product.ldr = epilogue.residual.stride;
  product.a = args.a;
  product.b = args.b;
  if (!activates) product.bias = wide ? static_cast<const void*>(linear.bias) : linear.bias16;
  product.residual = epilogue.residual.data;
  product.out_data = args.out.data;
  if (!library_->multiply(product, device_.stream())) return false;
  if (activates)
    launch_bias_activation(args.out, linear.bias, epilogue.activation, args.m, args.n,
                           device_.stream());
  if (epilogue.cos_sin != nullptr)
    launch_rotary(args.out, epilogue.cos_sin, epilogue.positions,
                  {epilogue.head, epilogue.head, epilogue.n_rotated / epilogue.head}, args.m,
                  device_.stream());
  return true;
}

}  // namespace biogpu::gpu::ops
