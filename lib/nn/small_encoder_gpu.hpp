#pragma once

#include <cstdint>
#include <map>

#include "gpu/nn/small_encoder.hpp"
#include "gpu/rt/buffer.hpp"
#include "lib/nn/backend.hpp"
#include "lib/nn/device_gpu.hpp"

namespace biogpu::nn {

// Encoders over few tokens by gpu/nn/small_encoder.hpp: their weights in its order, and its room.
class SmallEncoderEngine {
 public:
  SmallEncoderEngine(Precision precision, gpu::Stream& stream);

  // Queues op over the batch whose plan is loaded; false: too many tokens, or not such an encoder.
  bool run(const Encoder& op, const Batch& batch, const DevicePlan& plan);

  // What queued work points to beside the arena.
  const void* room() const { return room_.data(); }

 private:
  struct Weights {
    gpu::DeviceBuffer<std::uint8_t> packed;
    gpu::DeviceBuffer<float> vectors;
    int n_groups = 0;  // that run at the same time
  };
  const Weights& weights_of(const Encoder& op, const gpu::nn::SmallEncoderShape& shape);
  void reserve(std::size_t bytes);

  gpu::Stream& stream_;
  bool enabled_ = false;
  gpu::Number16 type_ = gpu::Number16::fp16;
  std::map<const void*, Weights> weights_;  // by the first block's
  gpu::DeviceBuffer<std::uint8_t> room_;
};

}  // namespace biogpu::nn
