#pragma once

#include <cstdint>
#include <map>

#include "gpu/models/esm2/encoder_8m.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/rt/buffer.hpp"
#include "lib/models/esm2/ops/encoder_8m.hpp"

namespace biogpu::gpu::esm2 {

// Encoders over few tokens: their weights in the kernel's order, and its workspace.
class Encoder8mRunner {
 public:
  explicit Encoder8mRunner(ops::Device& device);

  // Queues the encoder; false: too many tokens, or no such kernel.
  bool run(const models::esm2::Encode8m& op);

 private:
  struct Weights {
    DeviceBuffer<std::uint8_t> packed;
    DeviceBuffer<float> vectors;
    int n_groups = 0;  // that run at the same time
  };
  const Weights& weights_of(const models::esm2::Encode8m& op, const Encoder8mShape& shape);
  void reserve(std::size_t bytes);

  ops::Device& device_;
  bool enabled_ = false;
  Number16 type_ = Number16::fp16;
  std::map<const void*, Weights> weights_;  // by the first block's
  DeviceBuffer<std::uint8_t> workspace_;
};

}  // namespace biogpu::gpu::esm2
