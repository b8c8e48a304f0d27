#pragma once

#include <cstdint>
#include <vector>

#include "gpu/models/proteinmpnn/graph.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/models/proteinmpnn/model.hpp"

namespace biogpu::models::proteinmpnn {

// A model's weights in the memory of the current device, as the kernels read them.
class DeviceWeights {
 public:
  DeviceWeights(const Weights& weights, gpu::Stream& stream);

  const gpu::proteinmpnn::FeatureArgs& features() const {
    return features_;
  }  // but for the structures
  const gpu::proteinmpnn::EncoderLayer& encoder(std::size_t layer) const { return encoder_[layer]; }
  const gpu::proteinmpnn::DecoderWeights& decoder() const { return decoder_; }
  std::uint64_t device_bytes() const;

 private:
  const float* put(const std::vector<float>& values);
  gpu::proteinmpnn::Norm put(const cpu::Norm& norm);
  gpu::proteinmpnn::Product product(const cpu::Dense& layer);
  gpu::proteinmpnn::Columns columns(const cpu::Dense& layer);
  gpu::proteinmpnn::Columns summed_columns(const cpu::Dense& layer);
  gpu::proteinmpnn::Columns columns(const std::vector<float>& rows, std::size_t n_in,
                                    const std::vector<float>& bias);
  gpu::proteinmpnn::Update update(const Message& message, const FeedForward& residue);
  void put_features(const Weights& weights);
  void put_encoder(const Weights& weights);
  void put_decoder(const Weights& weights);

  gpu::Stream& stream_;
  std::vector<gpu::DeviceBuffer<float>> floats_;
  std::vector<gpu::DeviceBuffer<std::uint32_t>> words_;
  gpu::proteinmpnn::FeatureArgs features_;
  gpu::proteinmpnn::EncoderLayer encoder_[kLayers];
  gpu::proteinmpnn::DecoderWeights decoder_;
};

}  // namespace biogpu::models::proteinmpnn
