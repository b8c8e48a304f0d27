#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gpu/ops/device.hpp"
#include "gpu/ops/gemm/gemm.hpp"
#include "gpu/rt/blas_library.hpp"
#include "gpu/rt/buffer.hpp"
#include "lib/tensor/linear.hpp"

namespace biogpu::gpu::ops {

// Weights of a linear map as the matrix cores read them: Linear::packed of a device.
struct DeviceLinear {
  std::uint16_t* weight = nullptr;  // [n_out, k]
  std::int64_t width = 0;           // n_in, or its groups padded: Context::upload_linear()
  std::int64_t k = 0;               // width, or 3 width where fp32 weights are sums of two numbers
  float sum_scale = 1;              // of sums of products with those: 1 / split_scale()
  float* bias = nullptr;            // [n_out], or not given
  std::uint16_t* bias16 = nullptr;  // the same as operands: what the vendor's library adds
};

// Matrix products of one device: by the vendor's library or our kernels, whichever is faster at
// the size, with fp32 operands split into sums of 16-bit numbers.
class GemmRunner {
 public:
  explicit GemmRunner(Device& device);

  // out = epilogue(x w^T); x: operand rows [m, n_in], at any place.
  void multiply(const Rows& x, std::int64_t m, const tensor::Linear& linear,
                const GemmEpilogue& epilogue, const Rows& out);

  // Why the vendor's library is not used, or empty.
  const std::string& why_no_library() const { return why_no_library_; }

 private:
  enum class Ways { best, library, own };
  static bool is_aligned(const GemmArgs& args);
  void multiply_once(const GemmArgs& args, const DeviceLinear& linear, Ways ways);
  bool multiply_by_library(const GemmArgs& args, const DeviceLinear& linear);

  Device& device_;
  bool split_ = false;
  bool is_fp32_ = false;
  Number16 type_ = Number16::fp16;
  Ways ways_ = Ways::best;
  std::string why_no_library_;
  std::unique_ptr<BlasLibrary> library_;
  DeviceBuffer<std::uint16_t> split_operands_;
};

}  // namespace biogpu::gpu::ops
