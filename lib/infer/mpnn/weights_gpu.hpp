#pragma once

#include <cstdint>
#include <vector>

#include "gpu/mpnn/graph.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/infer/mpnn/model.hpp"

namespace biogpu::infer::mpnn {

// A model's weights in the memory of the current device, as the kernels read them.
class DeviceWeights {
 public:
  DeviceWeights(const Weights& weights, gpu::Stream& stream);

  const gpu::mpnn::FeatureArgs& features() const { return features_; }  // but for the structures
  const gpu::mpnn::EncoderLayer& encoder(std::size_t layer) const { return encoder_[layer]; }
  const gpu::mpnn::DecoderWeights& decoder() const { return decoder_; }
  std::uint64_t device_bytes() const;

 private:
  const float* put(const std::vector<float>& values);
  gpu::mpnn::Norm put(const cpu::Norm& norm);
  gpu::mpnn::Product product(const cpu::Dense& layer);
  gpu::mpnn::Columns columns(const cpu::Dense& layer);
  gpu::mpnn::Columns summed_columns(const cpu::Dense& layer);
  gpu::mpnn::Columns columns(const std::vector<float>& rows, std::size_t n_in,
                             const std::vector<float>& bias);
  gpu::mpnn::Update update(const Message& message, const FeedForward& residue);
  void put_features(const Weights& weights);
  void put_encoder(const Weights& weights);
  void put_decoder(const Weights& weights);

  gpu::Stream& stream_;
  std::vector<gpu::DeviceBuffer<float>> floats_;
  std::vector<gpu::DeviceBuffer<std::uint32_t>> words_;
  gpu::mpnn::FeatureArgs features_;
  gpu::mpnn::EncoderLayer encoder_[kLayers];
  gpu::mpnn::DecoderWeights decoder_;
};

}  // namespace biogpu::infer::mpnn
