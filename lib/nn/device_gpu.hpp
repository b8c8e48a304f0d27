#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/nn/attention.hpp"
#include "gpu/nn/elements.hpp"
#include "gpu/nn/gemm.hpp"
#include "gpu/rt/blas_library.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/nn/backend.hpp"

namespace biogpu::nn {

gpu::nn::Element element_of(DType dtype);
// The view of a tensor of rank 2, or of rank 3 with its last two axes as one row.
gpu::nn::Rows rows_of(const Tensor& tensor);

// Host memory that copies to and from the device pass through: two pieces in turn, each waited for
// before it is used again.
class Staging {
 public:
  static constexpr std::size_t kBytes = std::size_t{32} << 20;
  void to_device(void* device, const void* host, std::size_t bytes, gpu::Stream& stream);

 private:
  struct Piece {
    gpu::PinnedBuffer<std::uint8_t> memory;
    gpu::Event done;
    bool used = false;
  };
  Piece pieces_[2];
  int next_ = 0;
};

// What a batch needs beside its tensors: the work list of attention and where contacts begin.
struct BatchPlan {
  std::vector<gpu::nn::QueryTile> tiles;
  std::vector<std::int32_t> starts;
  std::vector<std::int64_t> first_score;
};

// A plan in device memory, at the same place for every batch as long as it fits, so that captured
// graphs find it.
class DevicePlan {
 public:
  // Copies it unless it is there already.
  void load(const std::shared_ptr<BatchPlan>& plan, Staging& staging, gpu::Stream& stream);

  const gpu::nn::QueryTile* tiles() const { return tiles_.data(); }
  const std::int32_t* n_tiles() const { return n_tiles_.data(); }
  const std::int32_t* starts() const { return starts_.data(); }
  const std::int64_t* first_score() const { return first_score_.data(); }

 private:
  std::shared_ptr<BatchPlan> loaded_;
  gpu::DeviceBuffer<gpu::nn::QueryTile> tiles_;
  gpu::DeviceBuffer<std::int32_t> n_tiles_, starts_;
  gpu::DeviceBuffer<std::int64_t> first_score_;
};

// Weights of a linear map as the matrix cores read them.
struct DeviceLinear {
  std::uint16_t* weight = nullptr;  // [n_out, k]
  std::int64_t k = 0;               // n_in, or 3 n_in where fp32 weights are sums of two numbers
  float* bias = nullptr;            // [n_out], or not given
  std::uint16_t* bias16 = nullptr;  // the same as operands: what the vendor's library adds
};

// One device with what the operations share: the queue, the library, the room for split operands.
class ProductEngine {
 public:
  ProductEngine(Precision precision, gpu::Stream& stream);

  // out = epilogue(x w^T); x: operand rows [m, n_in].
  void multiply(const gpu::nn::Rows& x, std::int64_t m, const Linear& linear,
                const gpu::nn::GemmEpilogue& epilogue, const gpu::nn::Rows& out);

  // Why the vendor's library is not used, or empty.
  const std::string& why_no_library() const { return why_no_library_; }
  const void* split_room() const { return split_room_.data(); }

 private:
  static bool is_aligned(const gpu::nn::GemmArgs& args);
  void multiply_once(const gpu::nn::GemmArgs& args, const DeviceLinear& linear);
  bool multiply_by_library(const gpu::nn::GemmArgs& args, const DeviceLinear& linear);

  gpu::Stream& stream_;
  bool split_ = false;
  gpu::Number16 type_ = gpu::Number16::fp16;
  enum class Ways { best, library, own };
  Ways ways_ = Ways::best;
  std::string why_no_library_;
  std::unique_ptr<gpu::BlasLibrary> library_;
  gpu::DeviceBuffer<std::uint16_t> split_room_;
};

}  // namespace biogpu::nn
