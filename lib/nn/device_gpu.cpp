// What the GPU backend's operations share: copies, work lists, matrix products.
#include "lib/nn/device_gpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gpu/nn/gemm_warpgroup.hpp"
#include "gpu/nn/row_ops.hpp"
#include "lib/nn/pieces.hpp"

namespace biogpu::nn {

namespace device_nn = gpu::nn;

device_nn::Element element_of(DType dtype) {
  return dtype == DType::f16    ? device_nn::Element::fp16
         : dtype == DType::bf16 ? device_nn::Element::bf16
                                : device_nn::Element::f32;
}

device_nn::Rows rows_of(const Tensor& tensor) {
  if (tensor.empty()) return {};
  return {tensor.data, tensor.stride[0], element_of(tensor.dtype)};
}

void Staging::to_device(void* device, const void* host, std::size_t bytes, gpu::Stream& stream) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(kBytes, bytes - done);
    Piece& piece = pieces_[next_];
    next_ = 1 - next_;
    if (piece.used) piece.done.synchronize();
    piece.memory.reserve(std::min(kBytes, std::max<std::size_t>(n, 1 << 16)));
    copy_bytes(piece.memory.data(), static_cast<const char*>(host) + done, n);
    stream.copy_to_device(static_cast<char*>(device) + done, piece.memory.data(), n);
    piece.done.record(stream);
    piece.used = true;
    done += n;
  }
}

void DevicePlan::load(const std::shared_ptr<BatchPlan>& plan, Staging& staging,
                      gpu::Stream& stream) {
  if (loaded_ == plan) return;
  const auto copy = [&](auto& buffer, const auto& values) {
    if (buffer.size() < values.size()) {
      stream.synchronize();  // what is queued may still read the old memory
      buffer.reserve(std::max<std::size_t>(1024, 2 * values.size()));
    }
    staging.to_device(buffer.data(), values.data(), values.size() * sizeof(values[0]), stream);
  };
  copy(tiles_, plan->tiles);
  copy(n_tiles_, std::vector<std::int32_t>{static_cast<std::int32_t>(plan->tiles.size())});
  copy(starts_, plan->starts);
  copy(first_score_, plan->first_score);
  loaded_ = plan;
}

ProductEngine::ProductEngine(Precision precision, gpu::Stream& stream)
    : stream_(stream),
      split_(operand_type(precision) == DType::f32),
      type_(precision == Precision::bf16 ? gpu::Number16::bf16 : gpu::Number16::fp16) {
  // For tests and comparisons: one way for all products, whatever their size.
  const char* const choice = std::getenv("BIOGPU_GEMM");
  const std::string chosen = choice == nullptr ? "" : choice;
  if (chosen == "own") {
    why_no_library_ = "BIOGPU_GEMM=own";
    ways_ = Ways::own;
    return;
  }
  if (chosen == "library") ways_ = Ways::library;
  library_ = gpu::BlasLibrary::open(&why_no_library_);
}

void ProductEngine::multiply(const device_nn::Rows& x, std::int64_t m, const Linear& linear,
                             const device_nn::GemmEpilogue& epilogue, const device_nn::Rows& out) {
  if (m == 0) return;
  const auto& weights = *static_cast<const DeviceLinear*>(linear.packed);
  device_nn::GemmArgs args;
  args.a = static_cast<const std::uint16_t*>(x.data);  // of the first slice, where not split
  args.b = weights.weight;
  args.lda = split_ ? weights.k : x.stride;
  args.ldb = weights.k;
  args.n = static_cast<int>(linear.n_out);
  args.k = static_cast<int>(weights.k);
  args.epilogue = epilogue;
  args.epilogue.bias = weights.bias;
  // Split operands in slices of rows, so that their room stays small beside the batch's tensors.
  const std::int64_t n_rows_once =
      split_ ? std::max<std::int64_t>(1024, (std::int64_t{128} << 20) / (2 * weights.k)) : m;
  for (std::int64_t row = 0; row < m; row += n_rows_once) {
    const std::int64_t n_rows = std::min(n_rows_once, m - row);
    args.m = static_cast<int>(n_rows);
    const auto from_row = [row](device_nn::Rows rows) {
      if (rows.data == nullptr) return rows;
      const auto bytes = static_cast<std::int64_t>(device_nn::bytes_of(rows.type));
      rows.data = static_cast<char*>(rows.data) + row * rows.stride * bytes;
      return rows;
    };
    args.out = from_row(out);
    args.epilogue.residual = from_row(epilogue.residual);
    if (epilogue.positions != nullptr) args.epilogue.positions = epilogue.positions + row;
    if (split_) {
      const auto needed = static_cast<std::size_t>(n_rows * weights.k);
      if (split_room_.size() < needed) {
        stream_.synchronize();
        split_room_.reserve(needed);
      }
      device_nn::launch_split_rows(split_room_.data(), from_row(x), device_nn::SplitSide::a, n_rows,
                                   static_cast<int>(linear.n_in), stream_);
      args.a = split_room_.data();
    }
    multiply_once(args, weights);
  }
}

void ProductEngine::multiply_once(const device_nn::GemmArgs& args, const DeviceLinear& linear) {
  constexpr double kSmall = 2e7;  // operations up to which our own kernel starts as soon
  const bool small = 2.0 * args.m * args.n * args.k < kSmall;
  // Our kernel for Hopper saves the passes that follow the library's product, and adds to a
  // residual in fp32 where it lies, if its wide tiles divide the matrix. What else is added, and
  // results in fp32, stay with the library: whole passes are faster so. So do split operands, for
  // which the ways were not compared.
  const bool wide = args.out.type == device_nn::Element::f32;
  const bool adds = args.epilogue.residual.data != nullptr;
  const bool suits = adds ? wide && !split_ && args.n % device_nn::kWideTileColumns == 0 : !wide;
  const bool ours = ways_ == Ways::own || (ways_ == Ways::best && (suits || library_ == nullptr));
  if (ours && device_nn::launch_gemm_warpgroup(args, type_, stream_)) return;
  if ((ways_ == Ways::library || (ways_ == Ways::best && !small)) &&
      multiply_by_library(args, linear))
    return;
  device_nn::launch_gemm(args, type_, stream_);
}

// The library's kernels read and write 16 bytes at a time.
bool ProductEngine::is_aligned(const device_nn::GemmArgs& args) {
  constexpr std::int64_t kBytes = 16;
  const auto good = [](const void* data, std::int64_t stride, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % kBytes == 0 && stride * bytes % kBytes == 0;
  };
  const auto out_bytes = static_cast<std::int64_t>(device_nn::bytes_of(args.out.type));
  return good(args.a, args.lda, 2) && good(args.b, args.ldb, 2) &&
         good(args.out.data, args.out.stride, out_bytes) &&
         good(args.epilogue.residual.data, args.epilogue.residual.stride, out_bytes);
}

// The library adds a bias and a residual; activation and rotation follow in a pass of their own.
bool ProductEngine::multiply_by_library(const device_nn::GemmArgs& args,
                                        const DeviceLinear& linear) {
  if (library_ == nullptr) return false;
  const bool wide = args.out.type == device_nn::Element::f32;
  if (!is_aligned(args) || (args.epilogue.gelu && args.n % 8 != 0)) return false;
  const device_nn::GemmEpilogue& epilogue = args.epilogue;
  gpu::BlasProduct product;
  product.m = args.m;
  product.n = args.n;
  product.k = args.k;
  product.operand =
      type_ == gpu::Number16::fp16 ? gpu::BlasProduct::Type::fp16 : gpu::BlasProduct::Type::bf16;
  product.out = wide ? gpu::BlasProduct::Type::f32 : product.operand;
  product.lda = args.lda;
  product.ldb = args.ldb;
  product.ldo = args.out.stride;
  product.ldr = epilogue.residual.stride;
  product.a = args.a;
  product.b = args.b;
  if (!epilogue.gelu) product.bias = wide ? static_cast<const void*>(linear.bias) : linear.bias16;
  product.residual = epilogue.residual.data;
  product.out_data = args.out.data;
  if (!library_->multiply(product, stream_)) return false;
  if (epilogue.gelu) device_nn::launch_bias_gelu(args.out, linear.bias, args.m, args.n, stream_);
  if (epilogue.cos_sin != nullptr)
    device_nn::launch_rotary(args.out, epilogue.cos_sin, epilogue.positions, epilogue.head,
                             epilogue.n_rotated, args.m, stream_);
  return true;
}

}  // namespace biogpu::nn
